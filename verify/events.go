package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
)

// A message has two events at each end, its begin and its end; a local action has one, which is both.
func (c *checker) begin(g int32) int32 { return 2 * g }

func (c *checker) end(g int32) int32 {
	if c.ins[g].isMessage() {
		return 2*g + 1
	}
	return 2 * g
}

// afterEdges have each instruction begin when those that it waits for have ended.
func (c *checker) afterEdges() {
	for g := range int32(len(c.ins)) {
		for _, a := range c.source(g).After {
			c.graph.edge(c.end(c.first[c.ins[g].rank]+int32(a)), c.begin(g))
		}
	}
}

func (c *checker) messageEdges(g, capacity int32) {
	x := &c.ins[g]
	start := c.channel[x.channel]
	c.graph.edge(c.begin(g), c.end(g))
	if x.afterSend >= 0 {
		c.graph.edge(c.end(x.afterSend), c.end(g))
	}
	slots := c.recvs
	if x.kind == gen.SendInstr {
		slots = c.sends
		if k := x.slot - capacity; k >= start {
			c.graph.edge(c.drained(c.recvs[k]), c.end(g))
		}
	} else {
		c.graph.edge(c.begin(c.sends[x.slot]), c.end(g))
	}
	if x.slot > start && !c.inPrefix(slots[x.slot-1], g) { // a channel is first in, first out, at both ends
		c.graph.edge(c.begin(slots[x.slot-1]), c.begin(g))
		c.graph.edge(c.end(slots[x.slot-1]), c.end(g))
	}
}

// drained returns the event from which the receive takes its message out of the channel, whatever else happens. A
// receive AfterSend is held up by its send.
func (c *checker) drained(recv int32) int32 {
	if c.ins[recv].afterSend >= 0 {
		return c.end(recv)
	}
	return c.begin(recv)
}

// takeOrder makes an order of instructions from that of the events: a receive stands where it ends and a send where it
// begins, because a message may arrive from then on.
func (c *checker) takeOrder() {
	c.order, c.position = c.order[:0], resized(c.position, len(c.ins))
	for _, e := range c.graph.order {
		g := e / 2
		if c.ins[g].isReceive() == (e%2 == 1) {
			c.position[g] = int32(len(c.order))
			c.order = append(c.order, g)
		}
	}
}

// findPrefixes finds, for each instruction, how many of the first instructions of its rank it waits for. In a program
// made of steps that is everything before the step, which decides nearly all questions of order at once.
func (c *checker) findPrefixes() {
	c.prefix = resized(c.prefix, len(c.ins))
	for rank := range c.s.Ranks {
		prefix := c.prefix[c.first[rank]:c.first[rank+1]]
		for i := range prefix {
			n := int32(0)
			after := c.s.Ranks[rank].Instrs[i].After
			for _, a := range after {
				n = max(n, prefix[a])
			}
			for _, a := range after { // ascending, as a rule; otherwise n is too small, which is allowed
				if int32(a) == n {
					n++
				}
			}
			prefix[i] = n
		}
	}
}

// inPrefix reports whether a is among the instructions of g's rank of which findPrefixes knows that they end before g
// begins.
func (c *checker) inPrefix(a, g int32) bool {
	first := c.first[c.ins[g].rank]
	return a >= first && a < first+c.prefix[g]
}

// showCycle returns a failure whose trace is a cycle of events.
func (c *checker) showCycle(check Check, cycle []int32) *Failure {
	cycle = c.instrEvents(cycle)
	f := c.failure(check, cycle[0]/2)
	var b strings.Builder
	for i, e := range cycle {
		c.involve(f, e/2)
		next := cycle[(i+1)%len(cycle)]
		if e/2 == next/2 { // the end of a message after its begin
			continue
		}
		fmt.Fprintf(&b, "%s\n  %s %s\n", c.name(e/2), c.reason(e, next), c.name(next/2))
	}
	f.Trace = b.String() + f.Trace
	return f
}

// instrEvents returns a cycle without what happens to no message and nowhere in memory. That messages move is left out
// where other events are in the cycle. Where there are none, each message follows the next: its receive waits for the
// send that it follows.
func (c *checker) instrEvents(cycle []int32) []int32 {
	moves := int32(2 * len(c.ins))
	kept := slices.DeleteFunc(slices.Clone(cycle), func(e int32) bool {
		return e >= moves ||
			c.ins[e/2].kind == gen.JoinInstr
	})
	if len(kept) > 0 {
		return kept
	}
	for _, e := range cycle {
		recv := c.recvs[e-moves]
		kept = append(kept, c.end(recv), c.end(c.ins[recv].afterSend))
	}
	return kept
}

// reason says why the event e waits for the event next.
func (c *checker) reason(e, next int32) string {
	x, y := &c.ins[e/2], &c.ins[next/2]
	switch {
	case x.isMessage() && y.isMessage() && x.slot == y.slot && x.isReceive():
		return "cannot end before its message is sent by"
	case x.isMessage() && y.isMessage() && x.slot == y.slot:
		return "cannot end before its message is received by"
	case x.isMessage() && y.isMessage() && x.channel == y.channel && x.slot == y.slot+1 && x.rank == y.rank:
		return "comes, on its channel, after"
	case x.isMessage() && y.isMessage() && x.channel == y.channel && x.slot == y.slot+1:
		return "is behind this message on its channel:"
	case x.afterSend == next/2 && e%2 == 1:
		return "overwrites what is first to be sent by"
	case x.rank != y.rank:
		return "moves part by part with a message of"
	}
	return "waits for"
}
