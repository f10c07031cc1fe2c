package induct

import (
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
		c.want(Part{"value", f.hasValue(e)})
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
	case spec.DivExpr, spec.ModExpr:
		return and(all, le(zero, f.eval(e.Args[0])), le(one, f.eval(e.Args[1])))
	case spec.ShlExpr, spec.ShrExpr, spec.ReverseExpr:
		return and(all, le(zero, f.eval(e.Args[1])), lt(f.eval(e.Args[1]), spec.Int(32)))
	case spec.Log2Expr:
		return and(all, le(one, f.eval(e.Args[0])))
	}
	return all
}

// inBounds derives that the regions of x are inside their buffers, and its peer is another rank.
func (w *walker) inBounds(x *action) {
	regions, isMessage := regionsOf(x.node)
	if n, ok := x.node.(gen.Reduce); ok {
		w.operandsInBounds(x, n)
	}
	w.once("bounds", "all regions are inside of their buffers, and the peer is another rank", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		if isMessage {
			p := c.name("peer", f.eval(x.peer()))
			c.want(Part{"the peer has a value", f.hasValue(x.peer())}, Part{"the peer is not negative", le(zero, p)},
				Part{"the peer is less than the size", lt(p, spec.Size)}, Part{"the peer is another rank", not(eq(p, f.rank()))})
		}
		switch n := x.node.(type) {
		case gen.RecvReduce:
			c.want(Part{"the order has a value", f.hasValue(n.ReceivedFirst)})
		case gen.Reduce:
			c.want(Part{"the number of operands has a value", f.hasValue(n.N)}, Part{"an operand", le(one, f.eval(n.N))})
		}
		for i, r := range regions {
			if !isNothing(r) {
				c.want(of([]string{"region", "operand"}[i], append(f.inside(r), equallyLong(f, regions[0], f, r)...))...)
			}
		}
	})
	if into := written(x.node); !isNothing(into) {
		w.keepsIn(x, into)
	}
}

// regionsOf returns the regions that an action names for one rank, which are as long as each other, and whether it is a
// message.
func regionsOf(n gen.Node) (regions []gen.Region, isMessage bool) {
	switch n := n.(type) {
	case gen.Send:
		return []gen.Region{n.Data}, true
	case gen.Recv:
		return []gen.Region{n.Into}, true
	case gen.RecvReduce:
		return []gen.Region{n.Into, n.With}, true
	case gen.Copy:
		return []gen.Region{n.Into, n.From}, false
	case gen.Reduce:
		return []gen.Region{n.Into}, false
	case gen.Finish:
		return []gen.Region{n.Data}, false
	}
	return nil, false
}

func (w *walker) operandsInBounds(x *action, n gen.Reduce) {
	w.once("bounds", "each operand is inside of its buffer, and as long as the result", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		i := c.variable(n.Var, zero, f.eval(n.N))
		g := f.bind(n.Var, i)
		c.want(of("operand i", append(g.inside(n.From), equallyLong(f, n.Into, g, n.From)...))...)
	})
}

// keepsIn derives that what x writes is not In: what of it changes in place is Out's.
func (w *walker) keepsIn(x *action, into gen.Region) {
	w.once("frame", "nothing is written to in", x.index, func(c *context) {
		f := w.anywhere(c, x.place())
		for _, k := range f.cases(into.Buf) {
			if k.buf == spec.In {
				c.want(Part{"not in", not(k.cond)})
			}
		}
	})
}

// inside says that r is inside its buffer, which this rank passes.
func (f *frame) inside(r gen.Region) []Part {
	q := f.region(r)
	parts := []Part{
		{"the first cell has a value", f.hasValue(r.At)}, {"the number of cells has a value", f.hasValue(r.N)},
		{"the chunk that it is like has a value", f.hasValue(r.Like)},
		{"the first cell is not negative", le(zero, q.at)}, {"the number of cells is not negative", le(zero, q.n)},
	}
	for _, k := range q.cases {
		parts = append(parts, Part{"the rank passes the buffer", implies(k.cond, f.on(k.buf))},
			Part{"the last cell is in the buffer", implies(k.cond, le(add(q.at, q.n), f.length(k.buf)))})
	}
	return append(parts, f.knowsLength(r)...)
}
