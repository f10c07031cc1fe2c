package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

func (a *accesses) reset(cells int32) {
	a.writer, a.reader, a.reads = resized(a.writer, int(cells)), resized(a.reader, int(cells)), a.reads[:0]
	for i := range a.writer {
		a.writer[i], a.reader[i] = -1, -1
	}
}

// checkRace checks that every two accesses to one cell, one of which is a write, are ordered. It goes through the
// instructions in an order that contains the one in question, so that an access has to be compared with earlier ones
// only.
func (c *checker) checkRace() *Failure {
	c.access.reset(c.cells)
	for _, g := range c.order {
		x := &c.ins[g]
		for i := x.src; i < x.srcEnd; i++ {
			if f := c.checkRead(g, x, c.srcs[i]); f != nil {
				return f
			}
		}
		if f := c.checkWrite(g, x); f != nil {
			return f
		}
	}
	return nil
}

func (c *checker) checkRead(g int32, x *instr, p span) *Failure {
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

func (c *checker) checkWrite(g int32, x *instr) *Failure {
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

// All searches in one schedule may look at so many events, or at so many for each of its instructions if that is more.
// A search is short where a place was last used by a recent instruction of the same lane: only hostile plans come near
// this.
const (
	searchSteps     = 1 << 28
	searchStepsEach = 1 << 10
)

// before reports whether a has ended whenever b begins; it says no, too, when there are no more steps.
func (s *search) before(c *checker, a, b int32) bool {
	if len(s.marks) < len(c.ins) || s.round > 1<<30 {
		s.marks, s.round = make([]uint32, len(c.ins)), 0
	}
	s.round++
	s.stack = s.stack[:0]
	s.begun(c, b, a)
	for len(s.stack) > 0 {
		if s.steps--; s.steps < 0 {
			return false
		}
		e := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		g := e / 2
		if e%2 == 1 && g == a || c.inPrefix(a, g) {
			return true
		}
		if e%2 == 1 {
			s.ended(c, g, a)
		}
		s.begun(c, g, a)
	}
	return false
}

// begun pushes what has to have ended when g begins.
func (s *search) begun(c *checker, g, a int32) {
	first := c.first[c.ins[g].rank]
	for _, i := range c.source(g).After {
		s.push(c, first+int32(i), 1, a)
	}
}

// ended pushes what has to have happened, besides its own begin, when g ends.
func (s *search) ended(c *checker, g, a int32) {
	x := &c.ins[g]
	if x.isReceive() {
		s.push(c, c.sends[x.slot], 0, a)
	}
	if x.afterSend >= 0 {
		s.push(c, x.afterSend, 1, a)
	}
}

// push adds an event, unless it was found before or stands too early in the order for a to have ended before it.
func (s *search) push(c *checker, g, ended, a int32) {
	mark := s.round*2 + uint32(ended)
	if s.marks[g] >= mark || c.position[g] < c.position[a] {
		return
	}
	s.marks[g] = mark
	s.stack = append(s.stack, 2*g+ended)
}
