package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// accesses remembers, for each cell, the last write and all reads since then. As long as no race is found, they come
// after everything that happened to the cell before.
type accesses struct {
	writer []int32 // by cell: instruction, or -1
	reader []int32 // by cell: the latest read, an index of reads, or -1
	reads  []read
}

type read struct{ instr, earlier int32 }

func (a *accesses) reset(cells int32) {
	a.writer, a.reader, a.reads = resized(a.writer, int(cells)), resized(a.reader, int(cells)), a.reads[:0]
	for i := range a.writer {
		a.writer[i], a.reader[i] = -1, -1
	}
}

// race checks that every two accesses to one cell, one of which is a write, are ordered. It goes through the
// instructions in an order that contains the one in question, so that an access has to be compared with earlier ones
// only.
func (c *checker) race() *Failure {
	c.access.reset(c.cells)
	for _, g := range c.order {
		x := &c.ins[g]
		for i := x.src; i < x.srcEnd; i++ {
			if f := c.reads(g, x, c.srcs[i]); f != nil {
				return f
			}
		}
		if f := c.writes(g, x); f != nil {
			return f
		}
	}
	return nil
}

func (c *checker) reads(g int32, x *instr, p span) *Failure {
	a, start := &c.access, c.cell(x.rank, p)
	for cell := start; cell < start+p.n; cell++ {
		if w := a.writer[cell]; w >= 0 && !c.before(w, g) {
			return c.raceBetween(w, g, x.rank, cell)
		}
		a.reads = append(a.reads, read{g, a.reader[cell]})
		a.reader[cell] = int32(len(a.reads) - 1)
	}
	return nil
}

func (c *checker) writes(g int32, x *instr) *Failure {
	if x.dst.n == 0 || c.isNothing(x) {
		return nil
	}
	a, start := &c.access, c.cell(x.rank, x.dst)
	for cell := start; cell < start+x.dst.n; cell++ {
		if w := a.writer[cell]; w >= 0 && !c.before(w, g) {
			return c.raceBetween(w, g, x.rank, cell)
		}
		for r := a.reader[cell]; r >= 0; r = a.reads[r].earlier {
			if by := a.reads[r].instr; by != g && by != x.afterSend && !c.before(by, g) {
				return c.raceBetween(by, g, x.rank, cell)
			}
		}
		a.writer[cell], a.reader[cell] = g, -1
	}
	return nil
}

// before reports whether a has ended whenever b begins. Both are of one rank.
func (c *checker) before(a, b int32) bool { return c.inPrefix(a, b) || c.search.before(c, a, b) }

func (c *checker) raceBetween(a, b, rank, cell int32) *Failure {
	if c.search.steps < 0 {
		f := c.failure(Shape, b)
		f.Got = "it takes too long to find out what it comes after"
		return f
	}
	f := c.failure(Race, b)
	c.involve(f, a)
	f.Place = c.placeOf(rank, cell, c.placesOf(b))
	verb := func(g int32) string {
		if c.writesCell(g, cell) {
			return "writes"
		}
		return "reads"
	}
	f.Expected = fmt.Sprintf("an order between two instructions that share %v", f.Place)
	f.Got = fmt.Sprintf("[%s] %s it, [%s] %s it, and the second does not wait for the end of the first",
		c.name(a), verb(a), c.name(b), verb(b))
	return f
}

func (c *checker) writesCell(g, cell int32) bool {
	x := &c.ins[g]
	start := c.cell(x.rank, x.dst)
	return cell >= start && cell < start+x.dst.n
}

// placesOf returns all places of the instruction g.
func (c *checker) placesOf(g int32) []gen.Place {
	in := c.source(g)
	return append([]gen.Place{in.Dst}, in.Srcs...)
}

// placeOf returns the single chunk or slot that is cell, named as one of places names it: in place a cell has two
// names.
func (c *checker) placeOf(rank, cell int32, places []gen.Place) gen.Place {
	for _, p := range places {
		start := c.cell(rank, spanOf(p))
		if cell >= start && cell < start+int32(p.N) {
			k := int(cell - start)
			return gen.Place{Buf: p.Buf, At: p.At + k, N: 1, Like: (p.Like + k) % c.s.Chunks}
		}
	}
	return gen.Place{}
}
