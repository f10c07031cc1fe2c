//go:build linux

package shm

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
)

// ring is one rank's view of a ring of slots.
type ring struct {
	head  *ringHead
	slots []byte
	slot  int
	next  uint32 // number of the next segment
	taken uint32 // the sender's: head.tail as it was read last
}

// data is the slot of the next segment, cut to n <= r.slot bytes.
func (r *ring) data(n int) []byte {
	from := int(r.next%slots) * (r.slot + stagger)
	return r.slots[from : from+n : from+n]
}

// link is one rank's two rings with another rank.
type link struct {
	peer    int
	control *control      // the peer's
	posts   [posts][]byte // its board
	out, in ring
	regions []registered // the peer's
	// The peer's process, and the cookie in its memory: see card.
	process          int
	cookieAt         uintptr
	cookie           uint64
	probed, readable bool // whether this rank knows if it can read there, and if it can
	// Messages take turns in the order in which they are listed: the numbers of the next to be listed and of the one in
	// turn.
	sends, sending, recvs, receiving uint32
}

// outgoing is a send of an Exchange in progress.
type outgoing struct {
	*wire.Send
	call wire.Mark
	link *link
	turn uint32
	at   int // bytes that are in slots
	done bool
	// What it has in common with other sends of the same memory, by its index in Endpoint.shared, plus 1.
	shared int
	// A receive marked AfterSend overwrites the message.
	overwritten bool
	// The receiver is to read the message where it lies, and was told so by segment.
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
	// Where an offered message lies that is being read; or, if it is at the address far of the sender's process, memory
	// to read it into.
	source []byte
	far    uintptr
}

// inTurn tells whether m waits, and for nothing but the other rank.
func (m *outgoing) inTurn() bool { return !m.done && m.link.sending == m.turn }

func (m *incoming) inTurn() bool { return !m.done && m.link.receiving == m.turn }

// push puts the next segment of m into a slot, if one is free, and tells whether it did.
func (e *Endpoint) push(m *outgoing) (bool, error) {
	if !m.inTurn() {
		return false, nil
	}
	if m.offered {
		return e.conclude(m)
	}
	r := &m.link.out
	if r.next-r.taken >= slots {
		if r.taken = r.head.tail.Load(); r.next-r.taken > slots {
			return false, m.link.corrupt("a receiver took segments that were not sent")
		}
		if r.next-r.taken == slots {
			return false, nil
		}
	}
	n := min(r.slot, len(m.Data)-m.at)
	data := m.Data[m.at : m.at+n]
	l := &r.head.lines[r.next%slots]
	if m.at == 0 && e.offer(m, l) {
		return true, nil
	}
	l.left, l.fingerprint, l.where = left(len(m.Data)-m.at), m.call.Fingerprint, e.post(m, data)
	if m.Call != nil && m.at == 0 {
		r.head.calls[r.next%slots].write(m.call)
	}
	switch {
	case l.where != 0: // it is on the board
	case n <= inline:
		copy(l.inline[:], data)
	default:
		kernel.Deliver(r.data(n), data)
	}
	r.next++
	l.seq.Store(r.next)
	e.wakeReceiver(m.link.control)
	if m.at += n; m.at == len(m.Data) {
		m.done = true
		m.link.sending++
		e.open--
	}
	return true, nil
}

// left is a number of bytes as a line announces it.
func left(bytes int) uint32 { return uint32(min(uint64(bytes), math.MaxUint32)) }

// pull takes the next segment of m out of its slot, if it is there and has its place, and tells whether it did.
func (e *Endpoint) pull(m *incoming) (bool, error) {
	if !m.inTurn() {
		return false, nil
	}
	if m.source != nil {
		return e.read(m)
	}
	r := &m.link.in
	l := &r.head.lines[r.next%slots]
	if seq := l.seq.Load(); seq != r.next+1 {
		if seq != 0 && seq != r.next+1-slots {
			return false, m.link.corrupt("a segment has the wrong number")
		}
		return false, nil
	}
	if l.fingerprint != m.call.Fingerprint || l.left != left(len(m.Into)-m.at) {
		return false, e.refuse(m, l.fingerprint, l.left)
	}
	if l.where > posts {
		return e.accept(m, l)
	}
	n := min(r.slot, len(m.Into)-m.at)
	if m.after != nil && m.after.at < m.at+n {
		return false, nil
	}
	data := m.link.segment(l, n)
	if data == nil {
		return false, m.link.corrupt("a segment lies where there is nothing")
	}
	r.next++
	if m.lends(n) {
		e.lend(m, data)
	} else {
		m.apply(data)
		e.taken(m.link)
	}
	if m.at += n; m.at == len(m.Into) {
		m.done = true
		m.link.receiving++
		e.open--
	}
	return true, nil
}

// segment is the data, n bytes, of the next segment, whose line is line. It is nil if that is to lie on a board that the
// peer does not have.
func (l *link) segment(line *line, n int) []byte {
	switch where := line.where; {
	case where > posts || int(where) > 0 && l.posts[where-1] == nil:
		return nil
	case where > 0:
		return l.posts[where-1][:n:n]
	case n <= inline:
		return line.inline[:n:n]
	default:
		return l.in.data(n)
	}
}

// apply copies or reduces data, the next segment, to its place.
func (m *incoming) apply(data []byte) {
	to := m.at + len(data)
	into := m.Into[m.at:to:to]
	switch {
	case m.Kernel == nil:
		kernel.Copy(into, data)
	case len(data) == 0:
	case m.ReceivedFirst:
		m.Kernel(into, data, m.With[m.at:to:to])
	default:
		m.Kernel(into, m.With[m.at:to:to], data)
	}
}

// corrupt is the error of a peer that breaks the protocol.
func (l *link) corrupt(how string) error {
	return &wire.PeerError{Rank: l.peer, Err: fmt.Errorf("%w: the shared memory is corrupt: %s", wire.ErrDied, how)}
}
