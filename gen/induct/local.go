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
			got = w.total(g, n, s, offset)
			got.lent = no
		}
		return either(f.c.name("hit", hit), got, old).as(f, "")
	}
}

// operand is operand i of a Reduce.
func (w *walker) operand(f *frame, n gen.Reduce, s state, i, offset expr) value {
	g := f.bind(n.Var, i)
	return s.read(g, n.From.Buf, add(g.region(n.From).at, offset))
}

// total is what a Reduce makes of its operands.
func (w *walker) total(f *frame, n gen.Reduce, s state, offset expr) value {
	v, last := w.operand(f, n, s, zero, offset), w.operand(f, n, s, sub(f.eval(n.N), one), offset)
	count := f.c.name("total", add(w.behind(f, v, last), last.count))
	v.first, v.count = cond(eq(count, spec.Size), zero, v.first), count
	return v
}

// behind returns how many ranks behind the first rank of x that of y is. Where the order of operands counts, it is not
// around the end.
func (w *walker) behind(f *frame, x, y value) expr {
	d := sub(y.first, x.first)
	if !w.a.Requires.Commutative {
		return d
	}
	d = f.c.name("behind", d)
	return cond(lt(d, zero), add(d, spec.Size), d)
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

// reducesAll derives what has to hold of a Reduce: each operand is of the ranks behind those of the one before.
func (w *walker) reducesAll(x *action, n gen.Reduce, s state) {
	w.reduces, x.before = append(w.reduces, x), s
	w.oblige("operands", "operand i is known, of the same chunk as the first, not finished, and of the ranks "+
		"behind those "+
		"of the one before", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		i, offset := c.variable(n.Var, zero, f.eval(n.N)), f.anyOffset(n.Into)
		v, v0 := w.operand(f, n, s, i, offset), w.operand(f, n, s, zero, offset)
		f.needs(n.From.Buf, add(f.bind(n.Var, i).region(n.From).at, offset), v)
		before, last := w.operand(f, n, s, sub(i, one), offset), w.operand(f, n, s, sub(f.eval(n.N), one), offset)
		end := add(last.first, last.count)
		if w.a.Requires.Commutative {
			end = add(w.behind(f, v0, last), last.count)
		}
		c.want(Part{"no more operands than ranks", le(end, spec.Size)})
		follows := implies(lt(zero, i), eq(w.behind(f, v0, v), add(w.behind(f, v0, before), before.count)))
		c.want(of("operand i", []Part{{"known", v.known}, {"chunk", eq(v.chunk, v0.chunk)}, {"first rank", follows},
			{"finished", not(v.done)}})...)
		c.want(f.bind(n.Var, i).readAsWritten(n.From, v)...)
	})
	w.oblige("alias", "of its operands only the first two may be its destination", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		i := c.variable(n.Var, zero, f.eval(n.N))
		share, equal := f.region(n.Into).overlaps(f, f.bind(n.Var, i).region(n.From))
		c.want(Part{"operand i", implies(share, equal)}, Part{"the first two operands", implies(share, lt(i, spec.Int(2)))})
	})
}
