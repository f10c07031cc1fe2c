package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// trees derives that all ranks get the same bits, where that is promised: two reductions with one result have the same
// operands, so that by induction on the count a range of ranks has one tree. A Reduce makes its range of several
// ranges, a RecvReduce of two; an algorithm with both makes no range by both.
func (w *walker) trees() {
	if w.a.Primitive.Order < spec.SameTree {
		return
	}
	if w.a.Primitive.Order > spec.SameTree {
		panic(unsupported{w.a.Primitive.Order.String()})
	}
	for i, x := range w.reduces {
		for _, y := range w.reduces[i:] {
			w.sameTree(x, y)
		}
	}
}

func (w *walker) sameTree(x, y *action) {
	_, isReduce := x.node.(gen.Reduce)
	_, isToo := y.node.(gen.Reduce)
	if isReduce && isToo {
		w.sameOperands(x, y)
		return
	}
	if isReduce || isToo {
		w.otherResults(x, y, isReduce)
		return
	}
	says := "two reductions with the same result have the same operands in the same order, on all ranks"
	if x != y {
		says = fmt.Sprintf("where it has the result of action %d, it has the same operands in the same order", y.index)
	}
	w.oblige("tree", says, x.index, func(c *context) {
		a := w.anySum(c, x)
		b := w.anySum(c, y)
		c.given(eq(a.value.chunk, b.value.chunk), eq(a.value.first, b.value.first), eq(a.value.count, b.value.count))
		c.want(Part{"the left one's first rank", eq(a.left.first, b.left.first)},
			Part{"the left one's count", eq(a.left.count, b.left.count)},
			Part{"the right one's first rank", eq(a.right.first, b.right.first)})
	})
}

// sameOperands derives that two Reduces with one result have equally many operands, of the same ranges. One of a single
// operand reduces nothing.
func (w *walker) sameOperands(x, y *action) {
	says := "with the same result it has the same operands, on all ranks"
	if x != y {
		says = fmt.Sprintf("where it has the result of action %d, and more than one operand, it has the same ones", y.index)
	}
	w.oblige("tree", says, x.index, func(c *context) {
		a, m, ofA := w.anyTotal(c, x)
		b, n, ofB := w.anyTotal(c, y)
		i := c.variable("i", zero, m)
		c.given(eq(a.chunk, b.chunk), eq(a.first, b.first), eq(a.count, b.count), lt(one, m), lt(one, n))
		c.want(Part{"the number of operands", eq(m, n)},
			Part{"the first rank of operand i", implies(eq(m, n), eq(ofA(i).first, ofB(i).first))})
	})
}

// otherResults derives that a Reduce of several operands and a RecvReduce have no result in common.
func (w *walker) otherResults(x, y *action, xIsReduce bool) {
	if !xIsReduce {
		x, y = y, x
	}
	w.oblige("tree", fmt.Sprintf("of more than one operand, it has no result of action %d", y.index), x.index,
		func(c *context) {
			a, m, _ := w.anyTotal(c, x)
			b := w.anySum(c, y).value
			c.given(lt(one, m))
			c.want(Part{"another result", not(and(eq(a.chunk, b.chunk), eq(a.first, b.first), eq(a.count, b.count)))})
		})
}

// anyTotal returns what a Reduce makes of any cell, on any rank, of how many operands, and of which.
func (w *walker) anyTotal(c *context, x *action) (v value, operands expr, operand func(i expr) value) {
	f, n := w.anywhere(c, x.place()), x.node.(gen.Reduce)
	offset := f.anyOffset(n.Into)
	operand = func(i expr) value { return w.operand(f, n, x.before, i, offset) }
	return w.total(f, n, x.before, offset), f.eval(n.N), operand
}
