//go:build linux

package shm

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// registered is a region that ranks have registered under a number: this rank's own, or a mapping of another rank's.
type registered struct {
	number uint64
	mapped []byte
}

// link is one rank's two rings with another rank.
type link struct {
	peer                     int
	control                  *control // the peer's
	multicast, fullMulticast row      // its multicast slots
	out, in                  ring
	regions                  []registered // the peer's
	// The peer's process, and the cookie in its memory: see card.
	process          int
	cookieAt         uintptr
	cookie           uint64
	probed, readable bool // whether this rank knows if it can read there, and if it can
	// Messages take turns in the order in which they are listed. These are the numbers of the next one to be listed and
	// of the one in turn, for sends and receives.
	sends, sending, recvs, receiving uint32
}

// ring is one rank's view of a ring of slots.
type ring struct {
	head        *ringHead
	small, full row
	next        uint32 // number of the next segment
	taken       uint32 // the sender's: head.tail as it was read last
}

// outgoing is a send of an Exchange in progress.
type outgoing struct {
	*wire.Send
	call wire.Mark
	link *link
	turn uint32
	at   int // bytes that are in slots
	done bool
	// Index in Endpoint.shared, plus 1, if other sends have the same memory; or 0.
	shared int
	// A receive marked AfterSend overwrites the message.
	overwritten bool
	// Segment has offered the message, which the receiver is to read in place.
	offered bool
	segment uint32
}

// incoming is a receive of an Exchange in progress.
type incoming struct {
	*wire.Recv
	call  wire.Mark
	link  *link
	turn  uint32
	at    int       // bytes that are in place
	after *outgoing // of a receive marked AfterSend: the send that it follows, if that has the same memory
	done  bool
	// An offered message that is being read; or, if far is not 0, memory to read it into from address far of the
	// sender's process.
	source []byte
	far    uintptr
}

// inTurn reports whether m waits for the other rank alone, and not for messages listed before it.
func (m *outgoing) inTurn() bool { return !m.done && m.link.sending == m.turn }

func (m *incoming) inTurn() bool { return !m.done && m.link.receiving == m.turn }

// window returns how many segments may be in flight when m's next one follows. There may be more of those that need
// only their line. are more.
func (m *outgoing) window() uint32 {
	if m.Call == nil && len(m.Data)-m.at <= inline {
		return depth
	}
	return slots
}

// look updates r.taken, and reports whether the new number is possible.
func (r *ring) look() bool {
	taken := r.head.tail.Load()
	if taken-r.taken > r.next-r.taken {
		return false
	}
	r.taken = taken
	return true
}

// left returns a number of bytes as line.left encodes it.
func left(bytes int) uint32 { return uint32(min(uint64(bytes), math.MaxUint32)) }

// corrupt returns the error of a peer that breaks the protocol.
func (l *link) corrupt(how string) error {
	return &wire.PeerError{Rank: l.peer, Err: fmt.Errorf("%w: the shared memory is corrupt: %s", wire.ErrDied, how)}
}

// lends reports whether m's next segment, of n bytes, is lent instead of copied.
func (m *incoming) lends(n int) bool {
	return m.Lend && n > 0 && n == len(m.Into) && m.turn+1 == m.link.recvs
}

// part returns the event's description of n bytes of m from byte at on, in the next segment of its ring, or in the one
// that offered it.
func (m *outgoing) part(at, n int, where uint32) events.Part {
	segment := m.link.out.next
	if m.offered {
		segment = m.segment
	}
	return events.Part{Peer: m.link.peer, At: at, Bytes: n, Via: via(where, n), Segment: segment}
}

// part returns the event's description of n bytes of m from byte at on, in the next segment of its ring.
func (m *incoming) part(at, n int, where uint32, lent bool) events.Part {
	return events.Part{Peer: m.link.peer, At: at, Bytes: n, Via: via(where, len(m.Into)-at), Segment: m.link.in.next,
		Lent: lent}
}

// via returns how a segment travels, for the where of its line and the rest bytes left of its message.
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
