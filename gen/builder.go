package gen

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/spec"
)

// builder makes the Programs, one rank after the other.
type builder struct {
	a      *Algorithm
	s      *Schedule
	places slab[Place]
	after  slab[int]
	each   func([]Instr) bool // takes every step, and says whether it wants more; nil: all are kept

	// Of the current rank:
	rank   int
	prog   *Program
	instrs []Instr
	env    spec.Env
	bufs   []boundBuf
	next   int // index of the next action in source order
	turns  int // of loops, so far
	step   int
	ready  int // the instruction that everything of the next step waits for; -1 at the start
	inStep bool
	first  int // the first instruction of the current step
	local  int // the last local instruction of the current step, or -1
}

type boundBuf struct{ name, is spec.Buf }

// limit is what the numbers of an algorithm may come to on one rank, so that a mistake ends in an error: chunks, slots,
// operands of a reduction, turns of all loops.
const limit = 1 << 24

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
	if b.s.Primitive.IsUneven() {
		p.Like = 0
		p.Length, err = b.length(p, r.Counts)
		return p, err
	}
	p.Like, err = b.like(p, r.Like)
	return p, err
}

// length returns which uneven block p is as long as: itself, or the one that counts identify.
func (b *builder) length(p Place, counts []spec.Expr) (spec.Length, error) {
	if p.N != 1 {
		return spec.Length{}, fmt.Errorf("%v is not a single block, and blocks are uneven", p)
	}
	stated, err := spec.Buffer{Counts: counts}.Length(b.env, 0)
	if err != nil {
		return stated, err
	}
	of := b.s.Primitive.In
	switch p.Buf {
	case spec.Scratch:
		if len(counts) != b.s.Primitive.Arity() {
			return stated, fmt.Errorf("%v has %d Counts, and blocks have %d", p, len(counts), b.s.Primitive.Arity())
		}
		return stated, nil
	case spec.Out:
		of = b.s.Primitive.Out
	}
	own, err := of.Length(b.s.Params.Env(b.rank), p.At)
	if err == nil && len(counts) > 0 && own != stated {
		err = fmt.Errorf("%v is as long as block %v, and not as block %v", p, own, stated)
	}
	return own, err
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

// slab hands out short slices that lie one behind the other, so that a Schedule is a few allocations.
type slab[T any] struct{ free []T }

func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.free = make([]T, max(n, 256))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

func (s *slab[T]) one(value T) []T {
	taken := s.take(1)
	taken[0] = value
	return taken
}

// errEnough says that nobody wants further steps.
var errEnough = errors.New("enough")

// deliver hands out the current step instead of keeping it.
func (b *builder) deliver() error {
	if !b.each(b.instrs) {
		return errEnough
	}
	if cap(b.instrs) > largeStep {
		b.instrs, b.places, b.after = nil, slab[Place]{}, slab[int]{}
	}
	b.instrs, b.ready = b.instrs[:0], -1
	return nil
}

// largeStep is how many instructions may keep memory for the step that follows.
const largeStep = 64

// add appends in to the program, unless it moves nothing.
func (b *builder) add(in Instr) error {
	if in.isEmpty() {
		return nil
	}
	isLocal := in.Kind >= CopyInstr
	switch {
	case !isLocal && b.local >= 0:
		return errors.New("a send or receive is listed after a local action of the same step")
	case isLocal && b.local >= 0:
		in.After = b.after.one(b.local)
	case isLocal && len(b.instrs) > b.first:
		b.join()
		in.After = b.after.one(b.ready)
	case b.ready >= 0:
		in.After = b.after.one(b.ready)
	}
	if isLocal {
		b.local = len(b.instrs)
	}
	b.instrs = append(b.instrs, in)
	return nil
}

// join adds an instruction that waits for all of the current step so far.
func (b *builder) join() {
	j := Instr{Kind: JoinInstr, AfterSend: -1, Step: b.step, Node: -1, After: b.after.take(len(b.instrs) - b.first)}
	for i := range j.After {
		j.After[i] = b.first + i
	}
	b.ready = len(b.instrs)
	b.instrs = append(b.instrs, j)
}

func isBuffer(b spec.Buf) bool { return b == spec.In || b == spec.Out || b == spec.Scratch }
