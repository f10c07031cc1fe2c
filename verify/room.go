package verify

// What transports promise is in ARCHITECTURE.md, "What a channel promises". A message can move once its send and its
// receive are both posted and the messages before it on its channel were received. It then moves segment by segment;
// how many segments there are depends on its length and on the transport. A message follows another one if its receive
// is AfterSend the other one's send.
//
//  1. A message of one segment: a receive AfterSend waits until the send that it follows has been buffered.
//  2. A message of several segments: the send waits, besides, until its receive has taken all segments but the last. So whatever that
//     receive waits for, the send waits for too.
//  3. Hence a message that follows another one ends, in any number of segments, if both can move.
//  4. Two messages that follow each other can move together, so that they share one event in the graph.
//  5. Longer rings of messages that follow each other count as waiting for each other. Such a ring needs a rank with several sends to
//     one peer in a step and several receives AfterSend, which gen.Instantiate refuses.

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
