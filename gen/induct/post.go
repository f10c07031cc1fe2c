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
				c.want(Part{"heard", end(f, gen.Heard, q).known})
			})
			continue
		}
		if clause.Buf != spec.Out || clause.Value.Kind != spec.Input && clause.Value.Kind != spec.Fold {
			panic(unsupported{fmt.Sprintf("postcondition %d", i)})
		}
		w.oblige("post", says, -1, func(c *context) {
			f := c.frame(w.anyRank(c), "")
			block, offset, cell := w.anyChunk(c, f)
			g := f.bind(spec.Block.Name, block)
			c.given(g.orElse(clause.Where, yes))
			got := end(f, spec.Out, cell)
			f.needs(spec.Out, cell, got)
			v := clause.Value
			chunk := func(block expr) expr { return add(f.product(block, f.chunks()), offset) }
			if v.Kind == spec.Input {
				c.want(of("input", got.holds(reduction(chunk(g.eval(v.Block)), g.eval(v.Rank), one, no)))...)
				return
			}
			parts := []Part{{"sum: known", got.known}, {"sum: chunk", eq(got.chunk, chunk(g.eval(v.Block)))}}
			parts = append(parts, w.operands(c, g, got, v.Where)...)
			c.want(append(parts, Part{"sum: finished", got.done})...)
		})
		w.everyBlock()
	}
}

// operands returns what shows that a sum has the operands that are promised: all ranks, or those for which where holds.
func (w *walker) operands(c *context, f *frame, sum value, where expr) []Part {
	if where.IsAbsent() {
		return []Part{{"sum: all ranks", eq(sum.count, spec.Size)}}
	}
	q := c.variable(spec.Q.Name, zero, spec.Size)
	behind := sub(q, sum.first)
	has := lt(cond(lt(behind, zero), add(behind, spec.Size), behind), sum.count)
	promised := f.bind(spec.Q.Name, q).eval(where)
	return []Part{{"sum: no other ranks", implies(has, promised)}, {"sum: all of its ranks", implies(promised, has)}}
}

// anyChunk is any chunk of any block of Out: its block, its number in the block, and its cell.
func (w *walker) anyChunk(c *context, f *frame) (block, offset, cell expr) {
	c.given(f.on(spec.Out))
	if is(f.chunks(), 1) {
		block = c.variable(gen.Cell.Name, zero, f.length(spec.Out))
		return block, zero, block
	}
	if !is(f.eval(w.a.Primitive.Out.Blocks), 1) {
		panic(unsupported{"several blocks of several chunks"})
	}
	cell = c.variable(gen.Cell.Name, zero, f.length(spec.Out))
	return zero, cell, cell
}

// everyBlock derives that of every block of Out something is promised, as nothing is derived of what is to stay.
func (w *walker) everyBlock() {
	w.once("post", "of every block of out something is promised", -1, func(c *context) {
		f := c.frame(w.anyRank(c), "")
		block, _, _ := w.anyChunk(c, f)
		g := f.bind(spec.Block.Name, block)
		promised := no
		for _, clause := range w.a.Primitive.Post {
			promised = or(promised, g.orElse(clause.Where, yes))
		}
		c.want(Part{"something is promised", promised})
	})
}
