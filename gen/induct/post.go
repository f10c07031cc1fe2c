package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// post derives what the primitive promises from the state at the end.
func (w *walker) post(end state) {
	for i, clause := range w.a.Primitive.Post {
		says := fmt.Sprintf("in the end, %s holds what postcondition %d says", clause.Buf, i)
		if clause.Value.Kind == spec.Entered {
			w.once("post", "in the end, a rank has heard of all of which it is promised", -1, func(c *context) {
				f := c.frame(w.anyRank(c), "")
				q := c.variable("q", zero, spec.Size)
				c.given(f.orElse(clause.Where, yes), f.bind(spec.Q.Name, q).orElse(clause.Value.Where, yes))
				c.o.Goal = end(f, Heard, q).known
			})
			continue
		}
		if clause.Buf != spec.Out || clause.Value.Kind != spec.Input && clause.Value.Kind != spec.Fold || !clause.Value.Where.IsAbsent() {
			panic(unsupported{fmt.Sprintf("postcondition %d", i)})
		}
		w.oblige("post", says, -1, func(c *context) {
			f := c.frame(w.anyRank(c), "")
			block, offset, cell := w.anyChunk(c, f)
			g := f.bind(spec.Block.Name, block)
			c.given(g.orElse(clause.Where, yes))
			got := end(f, spec.Out, cell)
			v := clause.Value
			chunk := func(block expr) expr { return add(f.product(block, f.chunks()), offset) }
			if v.Kind == spec.Input {
				c.o.Goal = got.holds(value{yes, chunk(g.eval(v.Block)), g.eval(v.Rank), one, no})
				return
			}
			c.o.Goal = and(got.known, eq(got.chunk, chunk(g.eval(v.Block))), eq(got.count, spec.Size), got.done)
		})
		w.everyBlock()
	}
}

// anyChunk is any chunk of any block of Out: its block, its number in the block, and its cell.
func (w *walker) anyChunk(c *context, f *frame) (block, offset, cell expr) {
	c.given(f.on(spec.Out))
	if is(f.chunks(), 1) {
		block = c.variable(Cell.Name, zero, f.length(spec.Out))
		return block, zero, block
	}
	if !is(f.eval(w.a.Primitive.Out.Blocks), 1) {
		panic(unsupported{"several blocks of several chunks"})
	}
	cell = c.variable(Cell.Name, zero, f.length(spec.Out))
	return zero, cell, cell
}

// everyBlock derives that of every block of Out something is promised, as nothing is derived of what is to stay.
func (w *walker) everyBlock() {
	w.once("post", "of every block of out something is promised", -1, func(c *context) {
		f := c.frame(w.anyRank(c), "")
		block, _, _ := w.anyChunk(c, f)
		g := f.bind(spec.Block.Name, block)
		c.o.Goal = no
		for _, clause := range w.a.Primitive.Post {
			c.o.Goal = or(c.o.Goal, g.orElse(clause.Where, yes))
		}
	})
}

// trees derives that all ranks get the same bits, where that is promised: two reductions with one result have the same operands, so that
// by induction on the count a range of ranks has one tree. A Reduce makes its range of single ranks, a RecvReduce of two ranges.
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
		_, a := w.anySum(c, x)
		_, b := w.anySum(c, y)
		c.given(eq(a.value.chunk, b.value.chunk), eq(a.value.first, b.value.first), eq(a.value.count, b.value.count))
		c.o.Goal = and(eq(a.left.first, b.left.first), eq(a.left.count, b.left.count), eq(a.right.first, b.right.first))
	})
}
