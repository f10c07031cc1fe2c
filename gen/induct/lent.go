package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// What is lent really lies elsewhere: with the transport, or where a copy has it from. Only the Reduces of its step
// find it there. For everything else, and after the step, the cell holds nothing that is known.

// settled returns v as anything but a Reduce of the step finds it.
func (v value) settled() value {
	v.known, v.lent = and(v.known, not(v.lent)), no
	return v
}

// forget returns the state after a step that had s in the end.
func (s state) forget() state {
	return func(f *frame, buf spec.Buf, cell expr) value { return s(f, buf, cell).settled().as(f, "") }
}

// Lends reports whether an algorithm lends anything.
func Lends(a *gen.Algorithm) bool {
	return anyNode(gen.Step(a.Body), func(n gen.Node) bool { return is(isLent(n), 1) })
}

// lendsScratch derives that what x lends has its place in scratch: other memory is the caller's, who wants to find it
// there.
func (w *walker) lendsScratch(x *action) {
	if !is(isLent(x.node), 1) {
		return
	}
	w.once("lend", "what is lent has its place in scratch", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		for _, k := range f.cases(written(x.node).Buf) {
			if k.buf != spec.Scratch {
				c.want(Part{"scratch", not(k.cond)})
			}
		}
	})
}

// loans derives that each Reduce of a step, of which these are the local actions, finds what a Copy before it has lent
// as it was.
func (w *walker) loans(local []*action) {
	for i, x := range local {
		if n, ok := x.node.(gen.Copy); !ok || !n.Lend {
			continue
		}
		for j, r := range local[i+1:] {
			if _, ok := r.node.(gen.Reduce); !ok {
				continue
			}
			for _, y := range local[i+1:][:j] {
				w.unchanged(x, y, r)
			}
			w.reducesLoan(x, r)
		}
	}
}

// unchanged derives that y does not change what x has lent, if r reads it.
func (w *walker) unchanged(x, y, r *action) {
	says := fmt.Sprintf("it does not change what action %d has lent, and action %d still reads", x.index, r.index)
	w.oblige("lend", says, y.index, func(c *context) {
		f := w.anywhere(c, x.step.at)
		l := w.loan(c, f, x, r)
		changes, _ := l.from.overlaps(f, w.turned(c, f, y.inner).region(written(y.node)))
		c.want(Part{"unchanged", not(and(l.read, changes))})
	})
}

// reducesLoan derives that r, which is about to overwrite what x has lent, reads each part of it in time.
func (w *walker) reducesLoan(x, r *action) {
	says := fmt.Sprintf("what it reads that action %d has lent is its destination, or apart from it", x.index)
	w.oblige("lend", says, r.index, func(c *context) {
		f := w.anywhere(c, x.step.at)
		l := w.loan(c, f, x, r)
		share, equal := w.turned(c, f, r.inner).region(written(r.node)).overlaps(f, l.really)
		c.want(Part{"read in time", implies(and(l.read, share), equal)})
	})
}

// loan is what a Copy has lent to a Reduce.
type loan struct {
	from   region // what was lent
	read   expr   // whether any operand of the Reduce is of it
	really region // where that operand lies
}

func (w *walker) loan(c *context, f *frame, x, r *action) loan {
	lent, reduce := x.node.(gen.Copy), r.node.(gen.Reduce)
	g, h := w.turned(c, f, x.inner), w.turned(c, f, r.inner)
	i := c.variable(reduce.Var, zero, h.eval(reduce.N))
	from, into, operand := g.region(lent.From), g.region(lent.Into), h.bind(reduce.Var, i).region(reduce.From)
	read, _ := into.overlaps(f, operand)
	return loan{from, read, region{from.cases, add(from.at, sub(operand.at, into.at)), operand.n}}
}
