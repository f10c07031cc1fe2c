package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// checkShape checks every number of the schedule, so that later passes need not, and lists its instructions.
func (c *checker) checkShape() *Failure {
	if reason := c.shapeOfCall(); reason != "" {
		f := c.failure(Shape, -1)
		f.Got = reason
		return f
	}
	c.chunks = int32(c.s.Chunks)
	c.first, c.ins, c.srcs = c.first[:0], c.ins[:0], c.srcs[:0]
	moved := 0
	for rank := range c.s.Ranks {
		c.first = append(c.first, int32(len(c.ins)))
		for i := range c.s.Ranks[rank].Instrs {
			in := &c.s.Ranks[rank].Instrs[i]
			reason := c.shapeOfInstr(rank, i, in)
			if moved += work(in); reason == "" && moved > limit {
				reason = "the schedule is too large"
			}
			if reason != "" {
				f := c.failure(Shape, -1)
				f.locate(c.s, rank, i)
				f.Got = reason
				return f
			}
			c.flatten(rank, in)
		}
	}
	c.first = append(c.first, int32(len(c.ins)))
	c.report.Instrs = len(c.ins)
	return nil
}

// work returns how much later passes have to do for in.
func work(in *gen.Instr) int { return 1 + len(in.After) + (1+len(in.Srcs))*in.Dst.N + len(in.Srcs) }

// shapeOfCall says what is wrong with the schedule as a whole. Its primitive and parameters are right: they have an
// expectation.
func (c *checker) shapeOfCall() string {
	s := c.s
	switch {
	case s.Chunks < 1 || s.Chunks > limit:
		return fmt.Sprintf("a block is cut into %d chunks", s.Chunks)
	case s.Chunks != 1 && s.Primitive.IsUneven():
		return fmt.Sprintf("an uneven block is cut into %d chunks", s.Chunks)
	case s.Primitive.Order > spec.RankOrdered:
		return fmt.Sprintf("the primitive asks for order %d, which does not exist", s.Primitive.Order)
	}
	cells, instrs := 0, 0
	for rank := range s.Ranks {
		p, want := &s.Ranks[rank], &c.want.Ranks[rank]
		if p.In != len(want.In)*s.Chunks || p.Out != len(want.Out)*s.Chunks {
			return fmt.Sprintf("rank %d has %d chunks in and %d out, but %d and %d blocks of %d chunks each",
				rank, p.In, p.Out, len(want.In), len(want.Out), s.Chunks)
		}
		if p.Scratch < 0 || p.Scratch > limit {
			return fmt.Sprintf("rank %d has %d slots of scratch", rank, p.Scratch)
		}
		c.report.Scratch = max(c.report.Scratch, p.Scratch)
		cells, instrs = cells+p.In+p.Out+p.Scratch, instrs+len(p.Instrs)
		if cells > limit || instrs > limit {
			return "the schedule is too large"
		}
	}
	return ""
}

// shapeOfInstr says what is wrong with instruction i of rank.
func (c *checker) shapeOfInstr(rank, i int, in *gen.Instr) string {
	if in.Kind > gen.FinishInstr {
		return "there is no such instruction"
	}
	for _, a := range in.After {
		if a < 0 || a >= i {
			return fmt.Sprintf("it waits for instruction %d, which is not listed before it", a)
		}
	}
	if reason := c.shapeOfPlaces(rank, in); reason != "" {
		return reason
	}
	if in.Lend && (in.Kind != gen.RecvInstr && in.Kind != gen.CopyInstr || in.Dst.Buf != spec.Scratch) {
		return "it is lent, but not a receive or a copy into scratch"
	}
	if in.Kind == gen.SendInstr || in.Kind.IsReceive() {
		return c.shapeOfMessage(rank, in)
	}
	if in.AfterSend != -1 {
		return "it is not a receive, and has AfterSend"
	}
	return ""
}

// maxChannels bounds a channel's number, so that it fits an interner's key.
const maxChannels = 1 << 12

func (c *checker) shapeOfMessage(rank int, in *gen.Instr) string {
	instrs := c.s.Ranks[rank].Instrs
	switch {
	case in.Peer < 0 || in.Peer >= c.s.Size || in.Peer == rank:
		return fmt.Sprintf("peer is %d", in.Peer)
	case in.Channel < 0 || in.Channel >= maxChannels:
		return fmt.Sprintf("channel is %d", in.Channel)
	case in.AfterSend == -1:
		return ""
	case in.Kind == gen.SendInstr:
		return "it is not a receive, and has AfterSend"
	case in.AfterSend < 0 || in.AfterSend >= len(instrs) || instrs[in.AfterSend].Kind != gen.SendInstr:
		return fmt.Sprintf("AfterSend is %d, which is not a send", in.AfterSend)
	case instrs[in.AfterSend].Peer != in.Peer:
		return "AfterSend names a send to another rank"
	}
	return ""
}

// operands is how many sources an instruction of each kind has; -1: any number but 0.
var operands = [...]int{
	gen.JoinInstr: 0, gen.SendInstr: 1, gen.RecvInstr: 0, gen.RecvReduceInstr: 1,
	gen.CopyInstr: 1, gen.ReduceInstr: -1, gen.FinishInstr: 0,
}

func (c *checker) shapeOfPlaces(rank int, in *gen.Instr) string {
	n := operands[in.Kind]
	if len(in.Srcs) != n && (n >= 0 || len(in.Srcs) == 0) {
		return fmt.Sprintf("it has %d sources", len(in.Srcs))
	}
	hasDst := in.Kind != gen.JoinInstr && in.Kind != gen.SendInstr
	if !hasDst && in.Dst != (gen.Place{}) {
		return "it has a destination"
	}
	if hasDst {
		if reason := c.shapeOfPlace(rank, in.Dst, in.Kind == gen.RecvInstr); reason != "" {
			return reason
		}
	}
	for _, p := range in.Srcs {
		if reason := c.shapeOfPlace(rank, p, in.Kind == gen.SendInstr); reason != "" {
			return reason
		}
		if hasDst && !equallyLong(p, in.Dst) {
			return fmt.Sprintf("%v and %v differ in length", p, in.Dst)
		}
	}
	return ""
}

// shapeOfPlace says what is wrong with p, which may be the place of no data only where empty.
func (c *checker) shapeOfPlace(rank int, p gen.Place, empty bool) string {
	if p == (gen.Place{}) && empty {
		return ""
	}
	have := c.s.Ranks[rank].Len(p.Buf)
	switch {
	case number(p.Buf) == noBuf:
		return fmt.Sprintf("there is no buffer %q", p.Buf)
	case p.At < 0 || p.N < 1 || p.N > have || p.At > have-p.N:
		return fmt.Sprintf("%v is out of range: the buffer has %d", p, have)
	case p.Buf != spec.Scratch && p.Like != p.At%c.s.Chunks, p.Like < 0, p.Like >= c.s.Chunks:
		return fmt.Sprintf("%v has the length of chunk %d", p, p.Like)
	case p.Buf == spec.Scratch && p.N > 1 && c.s.Chunks > 1:
		return fmt.Sprintf("%v is more than one slot, and the chunks of a block differ in length", p)
	}
	if reason := c.shapeOfLength(rank, p); reason != "" {
		return reason
	}
	if p.Buf == spec.Scratch {
		c.report.Used = max(c.report.Used, p.At+p.N)
	}
	return ""
}

// shapeOfLength says what is wrong with the Length of p, which is in range.
func (c *checker) shapeOfLength(rank int, p gen.Place) string {
	r, own := &c.want.Ranks[rank], spec.Length{}
	switch isUneven := c.s.Primitive.IsUneven(); {
	case isUneven && p.N != 1:
		return fmt.Sprintf("%v is not a single block, and blocks are uneven", p)
	case isUneven && p.Buf == spec.Scratch:
		return ""
	case isUneven && p.Buf == spec.In:
		own = r.InLengths[p.At]
	case isUneven:
		own = r.OutLengths[p.At]
	}
	if p.Length != own {
		return fmt.Sprintf("%v has the length of block n%v", p, p.Length)
	}
	return ""
}

// flatten appends in, whose shape is right, to the instructions.
func (c *checker) flatten(rank int, in *gen.Instr) {
	x := instr{kind: in.Kind, receivedFirst: in.ReceivedFirst, lend: in.Lend, rank: int32(rank), dst: spanOf(in.Dst),
		afterSend: -1}
	x.src = int32(len(c.srcs))
	for _, p := range in.Srcs {
		c.srcs = append(c.srcs, spanOf(p))
	}
	x.srcEnd = int32(len(c.srcs))
	if in.AfterSend >= 0 {
		x.afterSend = c.first[rank] + int32(in.AfterSend)
	}
	c.ins = append(c.ins, x)
}
