package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// defined derives that the numbers of a node have values.
func (w *walker) defined(n gen.Node, at path) {
	var what string
	var e expr
	switch n := n.(type) {
	case gen.Let:
		what, e = n.Name, n.Is
	case gen.LetBuf:
		what, e = string(n.Name), n.Cond
	case gen.If:
		what, e = "the condition of an if", n.Cond
	case gen.For:
		what, e = "the number of turns over "+n.Var, n.N
	}
	w.once("defined", what+" has a value", -1, func(c *context) {
		f := w.anywhere(c, at)
		c.o.Goal = f.hasValue(e)
	})
}

// hasValue says that the operands in e are in range. Of a conditional, those of the branch that is taken.
func (f *frame) hasValue(e expr) expr {
	if e.Kind == spec.CondExpr {
		c := f.eval(e.Args[0])
		return and(f.hasValue(e.Args[0]), implies(c, f.hasValue(e.Args[1])), or(c, f.hasValue(e.Args[2])))
	}
	all := yes
	for _, a := range e.Args {
		all = and(all, f.hasValue(a))
	}
	switch e.Kind {
	case spec.ShlExpr, spec.ShrExpr:
		return and(all, le(zero, f.eval(e.Args[1])), lt(f.eval(e.Args[1]), spec.Int(32)))
	case spec.Log2Expr:
		return and(all, le(one, f.eval(e.Args[0])))
	}
	return all
}

// inBounds derives that the regions of x are inside of their buffers, and its peer is another rank.
func (w *walker) inBounds(x *action) {
	var regions []gen.Region
	switch n := x.node.(type) {
	case gen.Send:
		regions = []gen.Region{n.Data}
	case gen.Recv:
		regions = []gen.Region{n.Into}
	case gen.RecvReduce:
		regions = []gen.Region{n.Into, n.With}
	case gen.Copy:
		regions = []gen.Region{n.Into, n.From}
	case gen.Reduce:
		regions = []gen.Region{n.Into}
		w.once("bounds", "each operand is inside of its buffer, and as long as the result", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			i := c.variable(n.Var, zero, f.eval(n.N))
			g := f.bind(n.Var, i)
			c.o.Goal = and(f.hasValue(n.N), le(one, f.eval(n.N)), g.inside(n.From), equallyLong(f, n.Into, g, n.From))
		})
	case gen.Finish:
		regions = []gen.Region{n.Data}
	}
	w.once("bounds", "all regions are inside of their buffers, and the peer is another rank", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		c.o.Goal = yes
		switch x.node.(type) {
		case gen.Send, gen.Recv, gen.RecvReduce:
			p := c.name("peer", f.eval(x.peer()))
			c.o.Goal = and(f.hasValue(x.peer()), le(zero, p), lt(p, spec.Size), not(eq(p, f.rank())))
		}
		for i, r := range regions {
			if !isNothing(r) {
				c.o.Goal = and(c.o.Goal, f.inside(r), equallyLong(f, regions[0], f, regions[i]))
			}
		}
	})
	if into := written(x.node); !isNothing(into) {
		w.once("frame", "nothing is written to in", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			c.o.Goal = yes
			for _, k := range f.cases(into.Buf) {
				if k.buf == spec.In {
					c.o.Goal = and(c.o.Goal, not(k.cond))
				}
			}
		})
	}
}

// inside says that r is inside of its buffer, which this rank passes.
func (f *frame) inside(r gen.Region) expr {
	q := f.region(r)
	ok := and(f.hasValue(r.At), f.hasValue(r.N), f.hasValue(r.Like), le(zero, q.at), le(zero, q.n))
	for _, k := range q.cases {
		ok = and(ok, implies(k.cond, and(f.on(k.buf), le(add(q.at, q.n), f.length(k.buf)))))
	}
	return ok
}

// sum is a reduction of two operands, and whether it is allowed.
type sum struct {
	value       value
	left, right value
	allowed     expr
}

// reduced is what a RecvReduce makes of a cell, of which it received what got says.
func (w *walker) reduced(f *frame, n gen.RecvReduce, s state, offset expr, got value) sum {
	with := s.read(f, n.With.Buf, add(f.region(n.With).at, offset)).as(f, "_with")
	swap := f.c.name("received_first", f.orElse(n.ReceivedFirst, no))
	return w.sum(f, choose2(swap, got, with), choose2(swap, with, got))
}

// choose2 is x where c holds, and otherwise y, whatever is known of either.
func choose2(c expr, x, y value) value {
	return value{cond(c, x.known, y.known), cond(c, x.chunk, y.chunk), cond(c, x.first, y.first), cond(c, x.count, y.count), cond(c, x.done, y.done)}
}

// sum is x ⊕ y.
func (w *walker) sum(f *frame, x, y value) sum {
	n := f.c.name
	count := n("total", add(x.count, y.count))
	wrap := func(v value) expr {
		end := n("end", add(v.first, v.count))
		return cond(lt(end, spec.Size), end, sub(end, spec.Size))
	}
	meets, first := eq(n("end", add(x.first, x.count)), y.first), x.first
	if w.a.Requires.Commutative {
		inOrder := n("in_order", eq(n("wrapped", wrap(x)), y.first))
		meets = or(inOrder, eq(n("wrapped", wrap(y)), x.first))
		first = cond(inOrder, x.first, y.first)
	}
	r := sum{left: x, right: y}
	r.value = value{yes, x.chunk, cond(eq(count, spec.Size), zero, first), count, no}
	r.allowed = and(x.known, y.known, not(x.done), not(y.done), eq(x.chunk, y.chunk), meets, le(count, spec.Size))
	return r
}

// receive derives what has to hold of a reduction of what is received.
func (w *walker) receive(x *action) {
	n, ok := x.node.(gen.RecvReduce)
	if !ok {
		return
	}
	if _, inLoop := x.turn(); inLoop {
		panic(unsupported{fmt.Sprintf("action %d reduces in a loop inside of a step", x.index)})
	}
	w.reduces = append(w.reduces, x)
	w.oblige("operands", "both operands are known, of one chunk, not finished, and of ranges that are disjoint and meet", x.index, func(c *context) {
		f, s := w.anySum(c, x)
		_ = f
		c.o.Goal = s.allowed
	})
	w.oblige("alias", "its operand is its destination, or apart from it", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		share, equal := f.region(n.Into).overlaps(f, f.region(n.With))
		c.o.Goal = implies(share, equal)
	})
}

// anySum is the reduction that x makes of any cell, on any rank.
func (w *walker) anySum(c *context, x *action) (*frame, sum) {
	f := w.anywhere(c, x.place())
	offset := zero
	n := x.node.(gen.RecvReduce)
	if r := f.region(n.Into); !is(r.n, 1) {
		offset = c.variable("offset", zero, r.n)
	}
	return f, w.reduced(f, n, x.step.state, offset, w.sender(x, f).value(offset))
}

// localObligations derives what has to hold of a local action.
func (w *walker) localObligations(x *action, s state) {
	anyOffset := func(c *context, f *frame, r gen.Region) expr {
		if n := f.region(r).n; !is(n, 1) {
			return c.variable("offset", zero, n)
		}
		return zero
	}
	switch n := x.node.(type) {
	case gen.Finish:
		w.oblige("operands", "what is finished is the reduction over all ranks, and was not finished before", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			v := s.read(f, n.Data.Buf, add(f.region(n.Data).at, anyOffset(c, f, n.Data)))
			c.o.Goal = and(v.known, not(v.done), eq(v.count, spec.Size))
		})
	case gen.Copy:
		w.oblige("alias", "what is copied is its destination, or apart from it", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			share, equal := f.region(n.Into).overlaps(f, f.region(n.From))
			c.o.Goal = implies(share, equal)
		})
	case gen.Reduce:
		w.reduces = append(w.reduces, x)
		w.oblige("operands", "operand i is known, of the same chunk as the first, not finished, and of rank i alone", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			i, offset := c.variable(n.Var, zero, f.eval(n.N)), anyOffset(c, f, n.Into)
			v, v0 := w.operand(f, n, s, i, offset), w.operand(f, n, s, zero, offset)
			c.o.Goal = and(le(f.eval(n.N), spec.Size), v.holds(value{yes, v0.chunk, i, one, no}))
		})
		w.oblige("alias", "of its operands only the first two may be its destination", x.index, func(c *context) {
			f := w.anywhere(c, x.place())
			i := c.variable(n.Var, zero, f.eval(n.N))
			share, equal := f.region(n.Into).overlaps(f, f.bind(n.Var, i).region(n.From))
			c.o.Goal = implies(share, and(equal, lt(i, spec.Int(2))))
		})
	}
}
