package verify

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
)

// checkLend checks what is lent: until a cell of it is written again, only reductions of the same step read it, and
// until then nothing overwrites what a lent copy was made of, except such a reduction in its place.
func (c *checker) checkLend() *Failure {
	if !slices.ContainsFunc(c.ins, func(x instr) bool { return x.lend }) {
		return nil
	}
	c.writers = zeroed(c.writers, int(c.cells))
	for g := range c.ins {
		x := &c.ins[g]
		for i := x.src; i < x.srcEnd; i++ {
			if f := c.borrow(int32(g), c.srcs[i]); f != nil {
				return f
			}
		}
		if x.kind == gen.FinishInstr {
			if f := c.borrow(int32(g), x.dst); f != nil {
				return f
			}
		}
		c.writes(int32(g))
	}
	return nil
}

// borrow has instruction g read p, of which some may be lent.
func (c *checker) borrow(g int32, p span) *Failure {
	x, from := &c.ins[g], c.cell(c.ins[g].rank, p)
	for cell := from; cell < from+p.n; cell++ {
		by := c.writers[cell] - 1
		if by < 0 || !c.ins[by].lend {
			continue
		}
		lent, to := c.lentFrom(by, cell), c.cell(x.rank, x.dst)
		switch source := lent - (cell - from); { // where p really begins
		case x.kind != gen.ReduceInstr:
			return c.badLoan(g, by, fmt.Sprintf("a %v reads it", x.kind))
		case c.source(g).Step != c.source(by).Step:
			return c.badLoan(g, by, "a later step reads it")
		case lent < 0: // in another rank's memory
		case c.writers[lent]-1 > by:
			return c.badLoan(g, by, "what it was copied from has been overwritten")
		case source != to && source < to+x.dst.n && to < source+p.n:
			return c.badLoan(g, by, "what it was copied from overlaps the reduction's destination in part")
		}
	}
	return nil
}

// lentFrom returns the cell that a cell written by a lent copy has its content from; -1 for a receive, whose content is
// another rank's.
func (c *checker) lentFrom(by, cell int32) int32 {
	x := &c.ins[by]
	if x.kind != gen.CopyInstr {
		return -1
	}
	return c.cell(x.rank, c.srcs[x.src]) + cell - c.cell(x.rank, x.dst)
}

func (c *checker) badLoan(g, by int32, got string) *Failure {
	f := c.failure(Lend, g)
	f.Place = c.source(by).Dst
	f.Expected = "what is lent is read by reductions of the same step alone"
	f.Got = got
	return f
}
