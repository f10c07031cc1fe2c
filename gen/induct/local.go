package induct

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// local returns the state after a local action.
func (w *walker) local(x *action, s state) state {
	if _, ok := x.turn(); ok {
		panic(unsupported{fmt.Sprintf("action %d is local and stands in a loop inside of a step", x.index)})
	}
	w.localObligations(x, s)
	return func(f *frame, buf spec.Buf, cell expr) value {
		f = f.follow(x.step.at, nil)
		g := f.follow(x.inner, nil)
		hit := and(g.guard[len(f.guard):]...)
		old := s(f, buf, cell)
		if buf == gen.Heard {
			return old
		}
		inside, offset := g.region(written(x.node)).where(g, buf, cell)
		if hit = and(hit, inside); is(hit, 0) {
			return old
		}
		var got value
		switch n := x.node.(type) {
		case gen.Copy:
			got = s.read(g, n.From.Buf, add(g.region(n.From).at, offset)).settled()
			got.lent = isLent(n)
		case gen.Finish:
			got = old
			got.done = yes
		case gen.Reduce:
			got = w.operand(g, n, s, zero, offset)
			got.count, got.lent = g.c.name("total", g.product(g.eval(n.N), got.count)), no
		}
		return either(f.c.name("hit", hit), got, old).as(f, "")
	}
}

// operand is operand i of a Reduce.
func (w *walker) operand(f *frame, n gen.Reduce, s state, i, offset expr) value {
	g := f.bind(n.Var, i)
	return s.read(g, n.From.Buf, add(g.region(n.From).at, offset))
}

// localObligations derives what has to hold of a local action, with s the state before it.
func (w *walker) localObligations(x *action, s state) {
	switch n := x.node.(type) {
	case gen.Finish:
		w.finishes(x, n, s)
	case gen.Copy:
		w.oblige("alias", "what is copied is its destination, or apart from it", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			share, equal := f.region(n.Into).overlaps(f, f.region(n.From))
			c.want(Part{"what is copied", implies(share, equal)})
		})
		w.oblige("length", "what is copied is as long as where it is copied from", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			c.want(f.readAsWritten(n.From, s.read(f, n.From.Buf, add(f.region(n.From).at, f.anyOffset(n.From))).settled())...)
		})
	case gen.Reduce:
		w.reducesAll(x, n, s)
	}
}

// anyOffset returns how many cells any cell of r is after the first.
func (f *frame) anyOffset(r gen.Region) expr {
	if n := f.region(r).n; !is(n, 1) {
		return f.c.variable("offset", zero, n)
	}
	return zero
}

func (w *walker) finishes(x *action, n gen.Finish, s state) {
	of := "all ranks"
	if w.foldsPrefix() {
		of = "some ranks"
	}
	w.oblige("operands", "what is finished is the reduction over "+of+", and was not finished before", x.index,
		func(c *context) {
			f := w.anywhere(c, x.place())
			cell := add(f.region(n.Data).at, f.anyOffset(n.Data))
			v := s.read(f, n.Data.Buf, cell).settled()
			f.needs(n.Data.Buf, cell, v)
			parts := []Part{{"what is finished: known", v.known}, {"not finished before", not(v.done)}}
			if !w.foldsPrefix() {
				parts = append(parts, Part{"the sum of all ranks", eq(v.count, spec.Size)})
			}
			c.want(parts...)
			c.want(f.readAsWritten(n.Data, v)...)
		})
}

// foldsPrefix reports whether a reduction that is promised may be one of some ranks.
func (w *walker) foldsPrefix() bool {
	return slices.ContainsFunc(w.a.Primitive.Post, func(c spec.Clause) bool {
		return c.Value.Kind == spec.Fold && !c.Value.Where.IsAbsent()
	})
}

// reducesAll derives what has to hold of a Reduce: it is of as many ranks each, in their order.
func (w *walker) reducesAll(x *action, n gen.Reduce, s state) {
	w.reduces, x.before = append(w.reduces, x), s
	w.oblige("operands", "operand i is known, of the same chunk as the first, not finished, and of as many ranks, which "+
		"follow those before", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		i, offset := c.variable(n.Var, zero, f.eval(n.N)), f.anyOffset(n.Into)
		v, v0 := w.operand(f, n, s, i, offset), w.operand(f, n, s, zero, offset)
		f.needs(n.From.Buf, add(f.bind(n.Var, i).region(n.From).at, offset), v)
		total := f.product(f.eval(n.N), v0.count)
		c.want(Part{"no more operands than ranks", le(add(v0.first, total), spec.Size)})
		c.want(of("operand i", v.holds(reduction(v0.chunk, add(v0.first, f.product(i, v0.count)), v0.count, no)))...)
		c.want(f.bind(n.Var, i).readAsWritten(n.From, v)...)
	})
	w.oblige("alias", "of its operands only the first two may be its destination", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		i := c.variable(n.Var, zero, f.eval(n.N))
		share, equal := f.region(n.Into).overlaps(f, f.bind(n.Var, i).region(n.From))
		c.want(Part{"operand i", implies(share, equal)}, Part{"the first two operands", implies(share, lt(i, spec.Int(2)))})
	})
}
