package replay

import (
	"fmt"

	"github.com/collgen/collgen/internal/events"
)

// ring is the segments that go from one rank to another through shared memory, each of which has the number after that
// of the one before.
type ring struct {
	next  uint32 // that the sender puts next
	taken uint32 // before it, all are taken
}

// ring returns that of two ranks.
func (c *comm) ring(from, to int) *ring {
	r := c.rings[pair{from, to}]
	if r == nil {
		r = new(ring)
		c.rings[pair{from, to}] = r
	}
	return r
}

// inRing reports whether a part that goes so is, or announces, a segment of a ring.
func inRing(via events.Via) bool { return via != events.Frame && via != events.Memory }

// push takes that m puts p, a part of out, into its ring, which has to have room for it.
func (m *member) push(out *outgoing, p *events.Part) error {
	if !inRing(p.Via) {
		return nil
	}
	room := m.slots
	if p.Via == events.Inline || p.Via == events.Board && p.At+p.Bytes == out.bytes { // it may need nothing but its line
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

// pull takes that m has no need any more of the segment that p, of another rank, was in.
func (m *member) pull(p *events.Part) {
	if inRing(p.Via) {
		m.comm.ring(p.Peer, m.rank).taken = p.Segment + 1
	}
}
