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
		panic(unsupported{missing(n, at)})
	}
	number := w.loop
	inv := w.hints.Loops[number]
	w.loop++
	skews = maps.Clone(skews)
	skews[n.Var] = inv.Skew
	head := newHead(n, number, inv.Claims)
	w.defined(n, at)
	w.once("turns", fmt.Sprintf("the loop over %s has no negative number of turns", n.Var), -1, func(c *context) {
		f := w.anywhere(c, at)
		c.want(Part{"turns", le(zero, f.eval(n.N))})
	})
	inside := at.with(link{node: n})
	w.head = n.Var
	end := w.body(n.Body, inside, key+"@", head.state, skews)
	w.head = n.Var
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
	x, v, claim := head.claims[i], head.loop.Var, head.words(i)
	for _, buf := range x.bases(inside) {
		w.oblige("entry", fmt.Sprintf("before the loop over %s, %s %s", v, buf, claim), -1, func(c *context) {
			f := w.anywhere(c, at)
			cell := w.anyCell(c, f, buf)
			where, claimed := head.claim(f.bind(v, zero), i, buf, cell)
			c.given(where)
			c.want(before(f, buf, cell).holds(claimed)...)
		})
		w.oblige("step", fmt.Sprintf("after a turn of the loop over %s, %s %s of the next turn", v, buf, claim), -1,
			func(c *context) {
				f := w.anywhere(c, inside)
				cell := w.anyCell(c, f, buf)
				where, claimed := head.claim(f.bind(v, add(f.vars[v], one)), i, buf, cell)
				c.given(where)
				c.want(after(f, buf, cell).holds(claimed)...)
			})
	}
}

// anyCell is any cell of a buffer that this rank passes.
func (w *walker) anyCell(c *context, f *frame, buf spec.Buf) expr {
	c.given(f.on(buf))
	return c.variable(gen.Cell.Name, zero, f.length(buf))
}
