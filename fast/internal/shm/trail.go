//go:build linux

package shm

import "github.com/collgen/collgen/internal/events"

// Follow has this rank's messages written to t. It is for an endpoint that was not used yet.
func (e *Endpoint) Follow(t *events.Trail) { e.trail = t }

// Rings returns how many segments a ring holds, and how many if they lie in their lines.
func (e *Endpoint) Rings() (inSlots, inLines int) { return slots, depth }

// part returns n bytes of m from byte at on, in the next segment of its ring, or the one that offered it, whose line
// says where.
func (m *outgoing) part(at, n int, where uint32) events.Part {
	segment := m.link.out.next
	if m.offered {
		segment = m.segment
	}
	return events.Part{Peer: m.link.peer, At: at, Bytes: n, Via: via(where, n), Segment: segment}
}

// part returns n bytes of m from byte at on, in the next segment of its ring, whose line says where.
func (m *incoming) part(at, n int, where uint32, lent bool) events.Part {
	return events.Part{Peer: m.link.peer, At: at, Bytes: n, Via: via(where, len(m.Into)-at), Segment: m.link.in.next, Lent: lent}
}

// via returns what a line's where means, of a message of which rest bytes are left.
func via(where uint32, rest int) events.Via {
	switch {
	case where == inSmall && rest <= inline:
		return events.Inline
	case where == inSmall:
		return events.Slot
	case where == inFull:
		return events.Full
	case where < nowhere:
		return events.Board
	case where == inRegion:
		return events.Region
	}
	return events.Process
}
