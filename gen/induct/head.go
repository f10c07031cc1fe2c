package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// leading returns the names that a body begins with.
func leading(nodes []gen.Node) (p path) {
	for _, n := range nodes {
		switch n.(type) {
		case gen.Let, gen.LetBuf:
			p = append(p, link{node: n})
		default:
			return p
		}
	}
	return p
}

// loopHead is the head of a loop, with what is claimed to hold there.
type loopHead struct {
	loop    gen.For
	number  int // of its invariant
	written int // how many of the claims are the invariant's own
	leading path
	claims  []claim
}

// newHead returns the head of a loop, of which In is as it was where no claim mentions it.
func newHead(n gen.For, number int, claims []gen.Claim) *loopHead {
	h := &loopHead{loop: n, number: number, written: len(claims), leading: leading(n.Body)}
	speaksOfIn := false
	for _, c := range claims {
		h.claims = append(h.claims, claim(c))
		speaksOfIn = speaksOfIn || c.Buf == spec.In
	}
	if !speaksOfIn {
		h.claims = append(h.claims, claim{Buf: spec.In, Chunk: gen.Cell, First: spec.Rank, Count: one})
	}
	return h
}

// words say what a buffer holds by claim i.
func (h *loopHead) words(i int) string {
	if i < h.written {
		return fmt.Sprintf("holds what Loops[%d].Claims[%d] of the Hints says", h.number, i)
	}
	return fmt.Sprintf("holds the input, as no claim of Loops[%d] speaks of it,", h.number)
}

// claim is a gen.Claim.
type claim gen.Claim

// bases returns the buffers that the claim may be about, at the place p.
func (x claim) bases(p path) []spec.Buf {
	for i := len(p) - 1; i >= 0; i-- {
		if l, ok := p[i].node.(gen.LetBuf); ok && l.Name == x.Buf {
			then, els := claim{Buf: l.Then}, claim{Buf: l.Else}
			return append(then.bases(p[:i]), els.bases(p[:i])...)
		}
	}
	return []spec.Buf{x.Buf}
}

// claim returns where claim i says what of cell in buf. The loop's variable has its value in f, which is before the
// loop.
func (h *loopHead) claim(f *frame, i int, buf spec.Buf, cell expr) (where expr, v value) {
	g := f.follow(h.leading, nil).bind(gen.Cell.Name, cell)
	where = yes
	for _, x := range h.claims[:i] {
		where = and(where, not(x.holds(g, buf)))
	}
	x := h.claims[i]
	return and(x.holds(g, buf), where), x.value(g)
}

// holds returns where x mentions the cell of buf.
func (x claim) holds(f *frame, buf spec.Buf) expr {
	for _, c := range f.cases(x.Buf) {
		if c.buf == buf {
			return f.c.name("where", and(c.cond, f.orElse(x.Where, yes)))
		}
	}
	return no
}

func (x claim) value(f *frame) value {
	if x.Buf == gen.Heard {
		return heard(yes)
	}
	return reduction(f.eval(x.Chunk), f.eval(x.First), f.eval(x.Count), truth(x.Done))
}

func truth(b bool) expr {
	if b {
		return yes
	}
	return no
}

// state returns what is known at the head.
func (h *loopHead) state(f *frame, buf spec.Buf, cell expr) value {
	g := f.follow(h.leading, nil).bind(gen.Cell.Name, cell)
	v := nothing
	for i := len(h.claims) - 1; i >= 0; i-- {
		if where := h.claims[i].holds(g, buf); !is(where, 0) {
			v = either(where, h.claims[i].value(g), v)
		}
	}
	return v.as(f, "")
}
