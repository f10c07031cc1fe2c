package replay

import (
	"fmt"

	"github.com/collgen/collgen/internal/events"
)

// ring is the segments from one rank to another in shared memory, which are numbered consecutively.
type ring struct {
	next  uint32 // the sender's next segment
	taken uint32 // the receiver's next segment
}

// ring returns the ring between two ranks.
func (c *comm) ring(from, to int) *ring {
	r := c.rings[pair{from, to}]
	if r == nil {
		r = new(ring)
		c.rings[pair{from, to}] = r
	}
	return r
}

// inRing reports whether a part is, or announces, a segment of a ring.
func inRing(via events.Via) bool { return via != events.Frame && via != events.Memory }

// push records that m puts p, a part of out, into its ring, which has to have room for it.
func (m *member) push(out *outgoing, p *events.Part) error {
	if !inRing(p.Via) {
		return nil
	}
	room := m.slots
	if p.Via == events.Inline || p.Via == events.Board && p.At+p.Bytes == out.bytes { // it may need only its line
		room = m.lines
	}
	r := m.comm.ring(m.rank, p.Peer)
	switch {
	case p.Segment != r.next:
		return fmt.Errorf("the ring's next segment is %d", r.next)
	case r.next-r.taken >= uint32(room):
		return wait("the ring has room for %d segments, and rank %d has not taken segment %d", room, p.Peer, r.taken)
	}
	r.next++
	return nil
}

// pull records that m no longer needs the segment with p, a part from another rank.
func (m *member) pull(p *events.Part) {
	if inRing(p.Via) {
		m.comm.ring(p.Peer, m.rank).taken = p.Segment + 1
	}
}
