package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// loan is a cell of scratch whose content may really lie elsewhere.
type loan struct {
	by          int32 // the receive or the copy
	source      int32 // the cell that the copy has it from; -1: another rank's
	overwritten bool  // the source was, since
}

// checkLend checks what is lent: until a cell of it is written again, only reductions of the same step read it, and until
// then nothing overwrites what a lent copy was made of, except such a reduction in its place.
func (c *checker) checkLend() *Failure {
	loans := map[int32]loan{} // by cell
	for g := range c.ins {
		x := &c.ins[g]
		for i := x.src; i < x.srcEnd; i++ {
			if f := c.borrow(loans, int32(g), c.srcs[i]); f != nil {
				return f
			}
		}
		if x.kind == gen.FinishInstr {
			if f := c.borrow(loans, int32(g), x.dst); f != nil {
				return f
			}
		}
		c.overwrite(loans, int32(g))
	}
	return nil
}

// borrow has instruction g read what is lent of p.
func (c *checker) borrow(loans map[int32]loan, g int32, p span) *Failure {
	x, from := &c.ins[g], c.cell(c.ins[g].rank, p)
	for cell := from; cell < from+p.n; cell++ {
		l, ok := loans[cell]
		if !ok {
			continue
		}
		to := c.cell(x.rank, x.dst)
		switch source := l.source - (cell - from); { // where p really begins
		case x.kind != gen.ReduceInstr:
			return c.badLoan(g, l, fmt.Sprintf("a %v reads it", x.kind))
		case c.source(g).Step != c.source(l.by).Step:
			return c.badLoan(g, l, "a later step reads it")
		case l.overwritten:
			return c.badLoan(g, l, "what it was copied from has been overwritten")
		case l.source >= 0 && source != to && source < to+x.dst.n && to < source+p.n:
			return c.badLoan(g, l, "what it was copied from overlaps the reduction's destination in part")
		}
	}
	return nil
}

func (c *checker) badLoan(g int32, l loan, got string) *Failure {
	f := c.failure(Lend, g)
	f.Place = c.source(l.by).Dst
	f.Expected = "what is lent is read by reductions of the same step alone"
	f.Got = got
	return f
}

// overwrite has instruction g write its destination, and lend it.
func (c *checker) overwrite(loans map[int32]loan, g int32) {
	x := &c.ins[g]
	if x.dst.n == 0 || len(loans) == 0 && !x.lend {
		return
	}
	to := c.cell(x.rank, x.dst)
	for cell, l := range loans {
		if to <= l.source && l.source < to+x.dst.n {
			l.overwritten = true
			loans[cell] = l
		}
	}
	for i := range x.dst.n {
		delete(loans, to+i)
		switch {
		case !x.lend:
		case x.kind == gen.CopyInstr:
			loans[to+i] = loan{by: g, source: c.cell(x.rank, c.srcs[x.src]) + i}
		default:
			loans[to+i] = loan{by: g, source: -1}
		}
	}
}
