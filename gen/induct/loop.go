package induct

import (
	"fmt"
	"maps"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// forLoop derives what has to hold of a loop and its invariant.
func (w *walker) forLoop(n gen.For, at path, k int, key string, s state, skews map[string]expr) state {
	if w.loop >= len(w.hints.Loops) {
		panic(unsupported{fmt.Sprintf("there is no invariant of the loop over %s", n.Var)})
	}
	inv := w.hints.Loops[w.loop]
	w.loop++
	inv.Claims = inv.Claims[:len(inv.Claims):len(inv.Claims)]
	if !speaksOf(inv.Claims, spec.In) {
		inv.Claims = append(inv.Claims, Claim{Buf: spec.In, Chunk: Cell, First: spec.Rank, Count: one})
	}
	skews = maps.Clone(skews)
	skews[n.Var] = inv.Skew
	head := &loopHead{n, leading(n.Body), inv.Claims}
	w.defined(n, at)
	w.once("turns", fmt.Sprintf("the loop over %s has no negative number of turns", n.Var), -1, func(c *context) {
		f := w.anywhere(c, at)
		c.o.Goal = le(zero, f.eval(n.N))
	})
	inside := at.with(link{node: n})
	end := w.body(n.Body, inside, key+"@", head.state, skews)
	for i := range head.claims {
		w.claim(head, i, at, inside, s, end)
	}
	exit := state(func(f *frame, buf spec.Buf, cell expr) value {
		return head.state(f.bind(n.Var, f.eval(n.N)), buf, cell)
	})
	return exit.from(at, k)
}

// claim derives what shows a claim: that it holds at first, and still after a turn.
func (w *walker) claim(head *loopHead, i int, at, inside path, before, after state) {
	x, v := head.claims[i], head.loop.Var
	for _, buf := range x.bases(inside) {
		w.oblige("entry", fmt.Sprintf("before the loop over %s, %s holds what its invariant says", v, buf), -1, func(c *context) {
			f := w.anywhere(c, at)
			cell := w.anyCell(c, f, buf)
			where, claimed := head.claim(f.bind(v, zero), i, buf, cell)
			c.given(where)
			c.o.Goal = before(f, buf, cell).holds(claimed)
		})
		w.oblige("step", fmt.Sprintf("after a turn of the loop over %s, %s holds what its invariant says of the next turn", v, buf), -1, func(c *context) {
			f := w.anywhere(c, inside)
			cell := w.anyCell(c, f, buf)
			where, claimed := head.claim(f.bind(v, add(f.vars[v], one)), i, buf, cell)
			c.given(where)
			c.o.Goal = after(f, buf, cell).holds(claimed)
		})
	}
}

// anyCell is any cell of a buffer that this rank passes.
func (w *walker) anyCell(c *context, f *frame, buf spec.Buf) expr {
	c.given(f.on(buf))
	return c.variable(Cell.Name, zero, f.length(buf))
}

func speaksOf(claims []Claim, buf spec.Buf) bool {
	for _, c := range claims {
		if c.Buf == buf {
			return true
		}
	}
	return false
}

// leading are the names that a body begins with.
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
	leading path
	claims  []Claim
}

// bases are the buffers that the claim may be about, at the place p.
func (x Claim) bases(p path) []spec.Buf {
	for i := len(p) - 1; i >= 0; i-- {
		if l, ok := p[i].node.(gen.LetBuf); ok && l.Name == x.Buf {
			then, els := Claim{Buf: l.Then}, Claim{Buf: l.Else}
			return append(then.bases(p[:i]), els.bases(p[:i])...)
		}
	}
	return []spec.Buf{x.Buf}
}

// claim is where claim i says what of cell in buf. The loop's variable has its value in f, which is before the loop.
func (h *loopHead) claim(f *frame, i int, buf spec.Buf, cell expr) (where expr, v value) {
	g := f.follow(h.leading, nil).bind(Cell.Name, cell)
	where = yes
	for _, x := range h.claims[:i] {
		where = and(where, not(x.holds(g, buf)))
	}
	x := h.claims[i]
	return and(x.holds(g, buf), where), x.value(g)
}

// holds tells where x speaks of the cell of buf.
func (x Claim) holds(f *frame, buf spec.Buf) expr {
	for _, c := range f.cases(x.Buf) {
		if c.buf == buf {
			return f.c.name("where", and(c.cond, f.orElse(x.Where, yes)))
		}
	}
	return no
}

func (x Claim) value(f *frame) value {
	if x.Buf == Heard {
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

// state is what is known at the head.
func (h *loopHead) state(f *frame, buf spec.Buf, cell expr) value {
	g := f.follow(h.leading, nil).bind(Cell.Name, cell)
	v := nothing
	for i := len(h.claims) - 1; i >= 0; i-- {
		if where := h.claims[i].holds(g, buf); !is(where, 0) {
			v = either(where, h.claims[i].value(g), v)
		}
	}
	return v.as(f, "")
}
