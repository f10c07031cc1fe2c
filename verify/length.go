package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// checkKnown checks that ranks use no slot as long as an uneven block that is in none of their buffers: they do not
// know how long it is.
func (c *checker) checkKnown() *Failure {
	if !c.s.Primitive.IsUneven() {
		return nil
	}
	for rank := range c.s.Ranks {
		known, r := map[spec.Length]bool{}, &c.want.Ranks[rank]
		for _, lengths := range [][]spec.Length{r.InLengths, r.OutLengths} {
			for _, l := range lengths {
				known[l] = true
			}
		}
		for i := range c.s.Ranks[rank].Instrs {
			for p := range places(&c.s.Ranks[rank].Instrs[i]) {
				if p.Buf == "" || known[p.Length] {
					continue
				}
				f := c.failure(Known, c.first[rank]+int32(i))
				f.Place = p
				f.Expected = "a place as long as a block of this rank's buffers"
				f.Got = "one as long as " + c.lengthText(p)
				return f
			}
		}
	}
	return nil
}

// places returns the places of an instruction, the destination last.
func places(in *gen.Instr) func(yield func(gen.Place) bool) {
	return func(yield func(gen.Place) bool) {
		for _, p := range in.Srcs {
			if !yield(p) {
				return
			}
		}
		yield(in.Dst)
	}
}

// checkSlots checks that what is in a slot of scratch is read as long as it was written. Both ends of a message, and
// the places of an action, are equally long, so no element of a value is lost on its way. The slots of several blocks
// are all as long.
func (c *checker) checkSlots() *Failure {
	if c.s.Chunks == 1 && !c.s.Primitive.IsUneven() {
		return nil
	}
	c.writers = zeroed(c.writers, int(c.cells))
	for _, g := range c.order {
		x, in := &c.ins[g], c.source(g)
		for i, p := range in.Srcs {
			if f := c.readAsWritten(g, p, c.srcs[int(x.src)+i]); f != nil {
				return f
			}
		}
		if x.kind == gen.FinishInstr {
			if f := c.readAsWritten(g, in.Dst, x.dst); f != nil {
				return f
			}
		}
		c.writes(g)
	}
	return nil
}

// writes notes that instruction g writes its destination.
func (c *checker) writes(g int32) {
	x := &c.ins[g]
	to := c.cell(x.rank, x.dst)
	for cell := to; cell < to+x.dst.n; cell++ {
		c.writers[cell] = g + 1
	}
}

// readAsWritten compares a place that instruction g reads with what was written there last.
func (c *checker) readAsWritten(g int32, p gen.Place, at span) *Failure {
	if p.Buf != spec.Scratch {
		return nil
	}
	writer := c.writers[c.cell(c.ins[g].rank, at)] - 1
	if writer < 0 {
		return nil // a result that depends on this is refused for that
	}
	was := c.source(writer).Dst
	if was.Like == p.Like && was.Length == p.Length {
		return nil
	}
	f := c.failure(Length, g)
	c.involve(f, writer)
	f.Place = p
	f.Expected = fmt.Sprintf("what [%s] wrote there, as long as %s", c.name(writer), c.lengthText(was))
	f.Got = fmt.Sprintf("it is read as long as %s", c.lengthText(p))
	return f
}
