package verify

import (
	"slices"
	"sort"
)

// unbounded is the capacity of channels that never hold a sender up.
const unbounded = 1 << 30

// checkDeadlock checks that the schedule ends when channels hold any number of messages, and finds how many they must
// hold, and whether transports promise that.
func (c *checker) checkDeadlock() *Failure {
	c.findPrefixes()
	if c.ends(func(int32) int32 { return 0 }) {
		c.takeOrder()
		return nil
	}
	if !c.ends(func(int32) int32 { return unbounded }) {
		return c.explainDeadlock(c.graph.cycle())
	}
	c.takeOrder()
	c.report.Capacity = c.uniformCapacity()
	c.report.NeedsRoom = !c.endsAsPromised()
	return nil
}

// uniformCapacity returns the smallest capacity of all channels without a deadlock. More never harms: bisect.
func (c *checker) uniformCapacity() int {
	low, high := 0, len(c.sends) // low deadlocks, high does not
	for high-low > 1 {
		mid := (low + high) / 2
		if c.ends(func(int32) int32 { return int32(mid) }) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// ends reports whether the schedule ends when a channel holds capacity(channel) messages. It leaves the events, in
// order as far as they happen, in the graph.
func (c *checker) ends(capacity func(channel int32) int32) bool {
	c.graph.reset(2 * len(c.ins))
	c.afterEdges()
	for g := range int32(len(c.ins)) {
		if c.ins[g].isMessage() {
			c.messageEdges(g, capacity(c.ins[g].channel))
		}
	}
	return c.graph.sort()
}

// explainDeadlock shows a cycle of events, each of which waits for the next.
func (c *checker) explainDeadlock(cycle []int32) *Failure {
	f := c.showCycle(Deadlock, cycle)
	f.Expected, f.Got = "every instruction can end", "these wait for each other, channels of any capacity given:"
	return f
}

// What transports promise is in ARCHITECTURE.md, "What a channel promises". A message can move once its send and its
// receive are both posted and the messages before it on its channel were received. It then moves segment by segment;
// how many segments there are depends on its length and on the transport. A message follows another one if its receive
// is AfterSend the other one's send.
//
//  1. A message of one segment: a receive AfterSend waits until the send that it follows has been buffered.
//  2. A message of several segments: the send waits, besides, until its receive has taken all segments but the last. So
//     whatever that receive waits for, the send waits for too.
//  3. Hence a message that follows another one ends, in any number of segments, if both can move.
//  4. Two messages that follow each other can move together, so that they share one event in the graph.
//  5. Longer rings of messages that follow each other count as waiting for each other. Such a ring needs a rank with
//     several sends to one peer in a step and several receives AfterSend, which gen.Instantiate refuses.

// endsAsPromised reports whether the schedule ends with what transports promise. Its graph has one more event for each
// message: that it moves, from which on nothing but time is needed until both ends are complete.
func (c *checker) endsAsPromised() bool {
	c.graph.reset(2*len(c.ins) + len(c.sends))
	c.afterEdges()
	for ch := range len(c.channel) - 1 {
		for slot := c.channel[ch]; slot < c.channel[ch+1]; slot++ {
			c.moveEdges(slot, slot > c.channel[ch])
		}
	}
	return c.graph.sort()
}

// moveEdges says what the message of a slot waits for, and what waits for it. If it follows, another one goes before
// it.
func (c *checker) moveEdges(slot int32, follows bool) {
	moves := c.moves(slot)
	for _, ends := range [][]int32{c.sends, c.recvs} {
		g := ends[slot]
		c.graph.edge(c.begin(g), moves)
		c.graph.edge(moves, c.end(g))
		if follows && !c.inPrefix(ends[slot-1], g) {
			c.graph.edge(c.begin(ends[slot-1]), c.begin(g))
			c.graph.edge(c.end(ends[slot-1]), moves)
		}
	}
	if before := c.movesAfter(slot); before >= 0 && c.moves(before) != moves {
		c.graph.edge(c.moves(before), moves)
	}
}

// moves returns the event that the message of a slot moves: one for two messages that wait for each other.
func (c *checker) moves(slot int32) int32 {
	if other := c.movesAfter(slot); other >= 0 && other < slot && c.movesAfter(other) == slot {
		slot = other
	}
	return int32(2*len(c.ins)) + slot
}

// movesAfter returns the slot of the message whose parts have to be sent before those of slot can be taken, or -1.
func (c *checker) movesAfter(slot int32) int32 {
	if send := c.ins[c.recvs[slot]].afterSend; send >= 0 {
		return c.ins[send].slot
	}
	return -1
}

// needsRoom returns a failure if the schedule needs more room in channels than transports promise.
func (c *checker) needsRoom() *Failure {
	if !c.report.NeedsRoom {
		return nil
	}
	c.endsAsPromised()
	f := c.showCycle(Room, c.graph.cycle())
	f.Expected = "every instruction ends even if a send blocks until its receive is posted"
	f.Got = "these wait for each other:"
	return f
}

// channelWork bounds channels × instructions, where capacities have to be found.
const channelWork = 1 << 28

// channelCapacities starts from the capacity that suffices for all, and lowers one channel after the other.
func (c *checker) channelCapacities() ([]int32, error) {
	enough := c.report.Capacity
	capacity := slices.Repeat([]int32{int32(enough)}, len(c.channel)-1)
	if enough > 0 && len(capacity)*len(c.ins) > channelWork {
		f := c.failure(Shape, -1)
		f.Got = "it takes too long to find out what each channel needs"
		return nil, f
	}
	for ch := range capacity {
		capacity[ch] = int32(sort.Search(enough, func(k int) bool {
			capacity[ch] = int32(k)
			return c.ends(func(ch int32) int32 { return capacity[ch] })
		}))
	}
	return capacity, nil
}
