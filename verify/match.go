package verify

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
)

// matchMessages pairs each send with the receive that takes its message, and compares their lengths.
func (c *checker) matchMessages() *Failure {
	c.nameChannels()
	if f := c.pairUp(); f != nil {
		return f
	}
	for slot, send := range c.sends {
		recv := c.recvs[slot]
		src, dst := c.source(send).Srcs[0], c.source(recv).Dst
		if !equallyLong(src, dst) {
			f := c.failure(Length, recv)
			c.involve(f, send)
			f.Place = dst
			f.Expected = fmt.Sprintf("a message as long as %s", c.lengthText(dst))
			f.Got = fmt.Sprintf("one as long as %s, from [%s]%s", c.lengthText(src), c.name(send), c.mixedUp(slot))
			return f
		}
	}
	c.report.Messages = len(c.sends)
	return nil
}

// mixedUp says, of a receive whose message does not fit, that another one between the same ranks would: where two
// streams of messages share a channel, they are easily mixed up.
func (c *checker) mixedUp(slot int) string {
	recv := c.recvs[slot]
	first, end := c.channel[c.ins[recv].channel], c.channel[c.ins[recv].channel+1]
	dst := c.source(recv).Dst
	for other, send := range c.sends[first:end] {
		if src := c.source(send).Srcs[0]; equallyLong(src, dst) {
			return fmt.Sprintf("; from rank %d to rank %d, messages arrive in the order in which they are sent: this is "+
				"no. %d of %d, "+
				"and no. %d, from [%s], would fit", c.ins[send].rank, c.ins[recv].rank, int32(slot)-first+1, end-first, other+1,
				c.name(send))
		}
	}
	return ""
}

// equallyLong reports whether two places have the same number of elements, whatever the counts of the call are.
func equallyLong(p, q gen.Place) bool { return p.N == q.N && p.Like == q.Like && p.Length == q.Length }

func (c *checker) lengthText(p gen.Place) string {
	switch arity := c.s.Primitive.Arity(); {
	case p.N == 0:
		return "nothing"
	case arity > 0:
		return fmt.Sprintf("block n%v", p.Length[:arity])
	case p.N == 1:
		return fmt.Sprintf("chunk %d of a block", p.Like)
	}
	return fmt.Sprintf("%d chunks from chunk %d of a block on", p.N, p.Like)
}

// nameChannels numbers the channels in the order in which they are first used.
func (c *checker) nameChannels() {
	c.names.reset(c.s.Size)
	for g := range c.ins {
		x := &c.ins[g]
		if !x.isMessage() {
			continue
		}
		in := c.source(int32(g))
		from, to := uint64(x.rank), uint64(in.Peer)
		if x.isReceive() {
			from, to = to, from
		}
		x.channel = c.names.id((from<<26|to)*maxChannels | uint64(in.Channel))
	}
}

// pairUp fills the slots: the k-th send of a channel belongs to its k-th receive.
func (c *checker) pairUp() *Failure {
	channels := len(c.names.keys)
	sent, received := make([]int32, channels), make([]int32, channels)
	for g := range c.ins {
		switch x := &c.ins[g]; {
		case x.kind == gen.SendInstr:
			x.slot = sent[x.channel]
			sent[x.channel]++
		case x.isReceive():
			x.slot = received[x.channel]
			received[x.channel]++
		}
	}
	c.channel = append(c.channel[:0], 0)
	for ch, n := range sent {
		if n != received[ch] {
			return c.unmatched(int32(ch), n, received[ch])
		}
		c.channel = append(c.channel, c.channel[ch]+n)
	}
	c.fillSlots(int(c.channel[channels]))
	return nil
}

func (c *checker) fillSlots(n int) {
	c.sends, c.recvs = resized(c.sends, n), resized(c.recvs, n)
	for g := range c.ins {
		switch x := &c.ins[g]; {
		case x.kind == gen.SendInstr:
			x.slot += c.channel[x.channel]
			c.sends[x.slot] = int32(g)
		case x.isReceive():
			x.slot += c.channel[x.channel]
			c.recvs[x.slot] = int32(g)
		}
	}
}

// unmatched reports a channel with more messages than receives, or fewer, at the first one too many.
func (c *checker) unmatched(channel, sent, received int32) *Failure {
	surplus := int32(slices.IndexFunc(c.ins, func(x instr) bool {
		return x.isMessage() && x.channel == channel && x.slot == min(sent, received) && x.isReceive() == (received > sent)
	}))
	f := c.failure(Unmatched, surplus)
	from, to, in := c.ins[surplus].rank, int32(c.source(surplus).Peer), c.source(surplus)
	if c.ins[surplus].isReceive() {
		from, to = to, from
	}
	f.Expected = fmt.Sprintf("as many receives as sends from rank %d to rank %d on channel %d", from, to, in.Channel)
	f.Got = fmt.Sprintf("%d sent, %d received", sent, received)
	return f
}
