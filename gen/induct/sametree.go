package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// trees derives that all ranks get the same bits, where that is promised: two reductions with one result have the same
// operands, so that by induction on the count a range of ranks has one tree. A Reduce makes its range of single ranks,
// a RecvReduce of two ranges.
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
	if isReduce && isToo && x == y {
		return // from left to right, of single ranks: there is one way
	}
	if isReduce || isToo {
		panic(unsupported{fmt.Sprintf("actions %d and %d both make reductions", x.index, y.index)})
	}
	says := "two reductions with the same result have the same operands in the same order, on all ranks"
	if x != y {
		says = fmt.Sprintf("where it has the result of action %d, it has the same operands in the same order", y.index)
	}
	w.oblige("tree", says, x.index, func(c *context) {
		a := w.anySum(c, x)
		b := w.anySum(c, y)
		c.given(eq(a.value.chunk, b.value.chunk), eq(a.value.first, b.value.first), eq(a.value.count, b.value.count))
		c.want(Part{"the left one's first rank", eq(a.left.first, b.left.first)}, Part{"the left one's count", eq(a.left.count, b.left.count)},
			Part{"the right one's first rank", eq(a.right.first, b.right.first)})
	})
}
