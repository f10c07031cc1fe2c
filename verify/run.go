package verify

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// run carries the schedule out on trees, in one order that stands for all.
func (c *checker) run() {
	c.trees.reset(len(c.ins))
	c.sent, c.sentAt = c.sent[:0], resized(c.sentAt, len(c.sends))
	c.initialize()
	for _, g := range c.order {
		c.execute(&c.ins[g])
	}
}

// initialize gives each cell what it holds before the call: its own leaf, unless it is an input of another name.
func (c *checker) initialize() {
	c.mem = resized(c.mem, int(c.cells))
	for cell := range c.mem {
		c.mem[cell] = int32(cell)
	}
	for rank := range c.want.Ranks {
		for b, given := range c.want.Ranks[rank].Given {
			if given.Kind == spec.Input && given.Terms[0] != (spec.Term{Rank: rank, Block: b}) {
				for i := range c.chunks {
					c.mem[c.leaf(spec.Term{Rank: rank, Block: b}, i)] = c.leaf(given.Terms[0], i)
				}
			}
		}
	}
}

// at returns the memory of a rank's place.
func (c *checker) at(rank int32, p span) []int32 {
	start := c.cell(rank, p)
	return c.mem[start : start+p.n]
}

func (c *checker) execute(x *instr) {
	dst := c.at(x.rank, x.dst)
	switch x.kind {
	case gen.SendInstr:
		c.sentAt[x.slot] = int32(len(c.sent))
		c.sent = append(c.sent, c.at(x.rank, c.srcs[x.src])...)
	case gen.RecvInstr:
		copy(dst, c.sent[c.sentAt[x.slot]:])
	case gen.RecvReduceInstr:
		c.receiveReduce(x, dst)
	case gen.CopyInstr:
		copy(dst, c.at(x.rank, c.srcs[x.src]))
	case gen.ReduceInstr:
		c.reduce(x, dst)
	case gen.FinishInstr:
		for i, n := range dst {
			dst[i] = c.node(n, finished)
		}
	}
}

func (c *checker) receiveReduce(x *instr, dst []int32) {
	with, received := c.at(x.rank, c.srcs[x.src]), c.sent[c.sentAt[x.slot]:]
	if x.receivedFirst {
		with, received = received, with
	}
	for i := range dst {
		dst[i] = c.node(with[i], received[i])
	}
}

func (c *checker) reduce(x *instr, dst []int32) {
	first := c.at(x.rank, c.srcs[x.src])
	for i := range dst {
		n := first[i]
		for _, p := range c.srcs[x.src+1 : x.srcEnd] {
			n = c.node(n, c.mem[c.cell(x.rank, p)+int32(i)])
		}
		dst[i] = n
	}
}
