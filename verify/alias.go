package verify

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// checkFrame checks that nothing is written that is promised to stay as it was.
func (c *checker) checkFrame() *Failure {
	for g := range c.ins {
		x := &c.ins[g]
		start := c.cell(x.rank, x.dst)
		for cell := start; cell < start+x.dst.n; cell++ {
			if !c.frozen[cell] || c.isNothing(x) {
				continue
			}
			f := c.failure(Frame, int32(g))
			f.Place = c.source(int32(g)).Dst
			f.Expected = fmt.Sprintf("%v stays as it was before the call", f.Place)
			f.Got = "it is written"
			return f
		}
	}
	return nil
}

// checkAlias checks the places of each action against each other. A source may be the destination, or apart from it; a
// partial overlap is never allowed. A reduction puts its first two operands together into the destination and then adds
// the others one by one, so that only these two may be the destination.
func (c *checker) checkAlias() *Failure {
	for g := range c.ins {
		x := &c.ins[g]
		for i := x.src; i < x.srcEnd && x.dst.n > 0; i++ {
			same, overlap := c.overlap(x.rank, x.dst, c.srcs[i])
			late := x.kind == gen.ReduceInstr && i >= x.src+2
			if overlap && (!same || late) {
				return c.illegalAlias(int32(g), int(i-x.src), late)
			}
		}
		if x.afterSend < 0 {
			continue
		}
		if sent, into := c.source(x.afterSend).Srcs[0], c.source(int32(g)).Dst; !equallyLong(sent, into) {
			f := c.failure(Alias, int32(g))
			f.Place = into
			f.Expected = "a receive that follows a send part by part is as long as that"
			f.Got = fmt.Sprintf("%v and the send's %v differ in length", into, sent)
			return f
		}
		sent := c.srcs[c.ins[x.afterSend].src]
		if same, overlap := c.overlap(x.rank, x.dst, sent); overlap && !same {
			f := c.failure(Alias, int32(g))
			f.Place = c.source(int32(g)).Dst
			f.Expected = "a receive that follows a send overwrites what that sends, part by part"
			f.Got = fmt.Sprintf("the send's %v is another region, and they overlap", c.source(x.afterSend).Srcs[0])
			return f
		}
	}
	return nil
}

// overlap reports whether two places of a rank share memory, and whether they are the same.
func (c *checker) overlap(rank int32, p, q span) (same, overlap bool) {
	a, b := c.cell(rank, p), c.cell(rank, q)
	return a == b && p.n == q.n, a < b+q.n && b < a+p.n
}

func (c *checker) illegalAlias(g int32, operand int, late bool) *Failure {
	in := c.source(g)
	f := c.failure(Alias, g)
	f.Place = in.Dst
	f.Expected = "a source that is the destination, or apart from it"
	f.Got = fmt.Sprintf("source %v overlaps %v in part", in.Srcs[operand], in.Dst)
	if late {
		f.Expected = "of the operands only the first two may be the destination"
		f.Got = fmt.Sprintf("operand %d, %v, is the destination: when it is due, a partial result is there",
			operand, in.Srcs[operand])
	}
	return f
}
