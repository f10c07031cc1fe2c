package gen

import (
	"fmt"

	"github.com/collgen/collgen/spec"
)

// String returns the place as people write it: out[3..5).
func (p Place) String() string {
	switch {
	case p.Buf == "":
		return "nothing"
	case p.N == 1:
		return fmt.Sprintf("%s[%d]", p.Buf, p.At)
	}
	return fmt.Sprintf("%s[%d..%d)", p.Buf, p.At, p.At+p.N)
}

func (b *builder) buf(name spec.Buf) spec.Buf {
	for i := len(b.bufs) - 1; i >= 0; i-- {
		if b.bufs[i].name == name {
			return b.bufs[i].is
		}
	}
	return name
}

func (b *builder) place(r Region) (Place, error) {
	buf := b.buf(r.Buf)
	if !isBuffer(buf) {
		return Place{}, fmt.Errorf("there is no buffer %q here", buf)
	}
	at, err := r.At.Eval(b.env)
	if err != nil {
		return Place{}, err
	}
	n, err := r.N.OrElse(spec.Int(1)).Eval(b.env)
	if err != nil {
		return Place{}, err
	}
	p := Place{Buf: buf, At: at, N: n, Like: at}
	if end := b.prog.Len(p.Buf); at < 0 || n < 0 || at > end || n > end-at {
		return Place{}, fmt.Errorf("%v is out of range: the buffer has %d", p, end)
	}
	p.Like, err = b.like(p, r.Like)
	return p, err
}

// like returns the index, in its block, of the chunk that the first one of p is as long as.
func (b *builder) like(p Place, stated spec.Expr) (int, error) {
	switch {
	case b.s.Chunks == 1:
		return 0, nil
	case stated.IsAbsent() && p.Buf == spec.Scratch:
		return 0, fmt.Errorf("%v needs Like: the chunks of a block differ in length", p)
	case stated.IsAbsent():
		return p.At % b.s.Chunks, nil
	case p.Buf == spec.Scratch && p.N > 1:
		return 0, fmt.Errorf("%v is more than one slot, and the chunks of a block differ in length", p)
	}
	like, err := stated.Eval(b.env)
	switch {
	case err != nil:
		return 0, err
	case like < 0:
		return 0, fmt.Errorf("%v: Like is %d", p, like)
	case p.Buf != spec.Scratch && like%b.s.Chunks != p.At%b.s.Chunks:
		return 0, fmt.Errorf("%v is not like chunk %d", p, like)
	}
	return like % b.s.Chunks, nil
}

// Len returns the length of a buffer in chunks, or of scratch in slots.
func (p *Program) Len(buf spec.Buf) int {
	switch buf {
	case spec.In:
		return p.In
	case spec.Out:
		return p.Out
	case spec.Scratch:
		return p.Scratch
	}
	return 0
}
