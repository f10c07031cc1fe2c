package verify

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// layout gives each chunk and slot its cell. In place, Out starts at a distance from In that the primitive states, and
// both together are one row of cells.
func (c *checker) layout(inPlace bool) {
	c.inPlace, c.cells = inPlace, 0
	for b := range c.base {
		c.base[b] = zeroed(c.base[b], c.s.Size)
	}
	for rank := range c.s.Ranks {
		p := &c.s.Ranks[rank]
		in, out, scratch := int32(p.In), int32(p.Out), int32(p.Scratch)
		c.base[inBuf][rank] = c.cells
		if d, ok := c.distance(rank); ok {
			c.base[inBuf][rank] -= min(0, d)
			c.base[outBuf][rank] = c.base[inBuf][rank] + d
			c.cells += max(in, d+out) - min(0, d)
		} else {
			c.base[outBuf][rank] = c.cells + in
			c.cells += in + out
		}
		c.base[scratchBuf][rank] = c.cells
		c.cells += scratch
	}
	c.freeze()
}

// distance returns how many chunks after In's start Out starts, where they share memory.
func (c *checker) distance(rank int) (d int32, ok bool) {
	r := &c.want.Ranks[rank]
	return int32(r.InBlock-r.OutBlock) * c.chunks, c.inPlace && r.InBlock >= 0
}

// freeze marks the cells of blocks that are promised to stay as they were.
func (c *checker) freeze() {
	c.frozen = zeroed(c.frozen, int(c.cells))
	for rank := range c.want.Ranks {
		r := &c.want.Ranks[rank]
		for b := range r.In {
			if _, shared := r.Aliased(b); r.In[b].Kind == spec.Unchanged && !(c.inPlace && shared) {
				c.freezeBlock(c.base[inBuf][rank], b)
			}
		}
		for b := range r.Out {
			if r.Out[b].Kind == spec.Unchanged {
				c.freezeBlock(c.base[outBuf][rank], b)
			}
		}
	}
}

func (c *checker) freezeBlock(base int32, block int) {
	start := base + int32(block)*c.chunks
	for cell := start; cell < start+c.chunks; cell++ {
		c.frozen[cell] = true
	}
}

// cell returns the first cell of p on rank.
func (c *checker) cell(rank int32, p span) int32 { return c.base[p.buf][rank] + p.at }

// isNothing reports whether x is a copy of a place to itself.
func (c *checker) isNothing(x *instr) bool {
	return x.kind == gen.CopyInstr && c.cell(x.rank, x.dst) == c.cell(x.rank, c.srcs[x.src])
}
