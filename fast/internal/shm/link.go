//go:build linux

package shm

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// ring is one rank's view of a ring of slots.
type ring struct {
	head        *ringHead
	small, full row
	next        uint32 // number of the next segment
	taken       uint32 // the sender's: head.tail as it was read last
}

// link is one rank's two rings with another rank.
type link struct {
	peer             int
	control          *control // the peer's
	posts, fullPosts row      // its board
	out, in          ring
	regions          []registered // the peer's
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
	// Where an offered message lies that is being read; or, if far is not 0, memory to read it into: then it lies at
	// that address of the sender's process.
	source []byte
	far    uintptr
}

// inTurn reports whether m waits, and for nothing but the other rank.
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
	if room := m.room(); r.next-r.taken >= room {
		if !r.look() {
			return false, m.link.corrupt("a receiver took segments that were not sent")
		}
		if r.next-r.taken >= room {
			return false, nil
		}
	}
	l := &r.head.lines[r.next%depth]
	if m.at == 0 {
		if e.offer(m, l) {
			return true, nil
		}
		e.makeRoom(len(m.Data))
		if m.Call != nil {
			r.head.calls[r.next%slots].write(m.call)
		}
	}
	l.left, l.fingerprint = left(len(m.Data)-m.at), m.call.Fingerprint
	n := e.put(m, l)
	if events.On {
		e.trail.Part(events.Put, m.part(m.at, n, l.where))
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

// room returns how many segments may be on their way when m's next one follows: those that need nothing but their line
// are more.
func (m *outgoing) room() uint32 {
	if m.Call == nil && len(m.Data)-m.at <= inline {
		return depth
	}
	return slots
}

// look finds out how many segments were taken. It is false if that cannot be.
func (r *ring) look() bool {
	taken := r.head.tail.Load()
	if taken-r.taken > r.next-r.taken {
		return false
	}
	r.taken = taken
	return true
}

// put puts the next segment of m, with the line l, where it fits, and gives its length.
func (e *Endpoint) put(m *outgoing, l *line) (n int) {
	rest := m.Data[m.at:]
	if m.shared > 0 {
		if l.where, n = e.post(m, rest); n > 0 {
			return n
		}
	}
	r := &m.link.out
	i := int(r.next % slots)
	switch {
	case len(rest) <= inline:
		l.where = inSmall
		return copy(l.inline[:], rest)
	case e.grown && r.full.n > 0:
		l.where = inFull
		return r.full.write(i, rest)
	case e.grown && len(rest) > small:
		if l.where, n = e.postAlone(r, rest); n > 0 {
			return n
		}
	}
	l.where = inSmall
	return r.small.write(i, rest)
}

// left returns a number of bytes as a line announces it.
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
	l := &r.head.lines[r.next%depth]
	if seq := l.seq.Load(); seq != r.next+1 {
		if seq != 0 && seq != r.next+1-depth {
			return false, m.link.corrupt("a segment has the wrong number")
		}
		return false, nil
	}
	if l.fingerprint != m.call.Fingerprint || l.left != left(len(m.Into)-m.at) {
		return false, e.refuse(m, l.fingerprint, l.left)
	}
	where := l.where // once: a broken sender may change it
	if where >= nowhere {
		return e.accept(m, l, where)
	}
	data := e.segment(m.link, l, where, len(m.Into)-m.at)
	if data == nil {
		return false, m.link.corrupt("a segment lies where there is nothing")
	}
	n := len(data)
	if m.after != nil && m.after.at < m.at+n {
		return false, nil
	}
	if events.On {
		e.trail.Part(events.Placed, m.part(m.at, n, where, m.lends(n)))
	}
	r.next++
	if m.lends(n) {
		e.lend(m, data)
	} else {
		kernel.Apply(m.Recv, m.at, data)
		e.taken(m.link)
	}
	if m.at += n; m.at == len(m.Into) {
		m.done = true
		m.link.receiving++
		e.open--
	}
	return true, nil
}

// segment returns the data of the next segment of l, whose line is line and says where, of a message of which rest
// bytes have not come. It is nil if they are to lie where the peer has no memory.
func (e *Endpoint) segment(l *link, line *line, where uint32, rest int) []byte {
	from, i := &l.in.small, l.in.next%slots
	switch {
	case where == inSmall && rest <= inline:
		return line.inline[:rest:rest]
	case where == inSmall:
	case where == inFull:
		from = &l.in.full
	case where < onFullBoard:
		from, i = &l.posts, where-onBoard
	case where < nowhere:
		from, i = &l.fullPosts, where-onFullBoard
	default:
		return nil
	}
	if int(i) >= from.n || !from.there && !e.find(from) {
		return nil
	}
	return from.data(int(i), min(from.slot, rest))
}

// corrupt returns the error of a peer that breaks the protocol.
func (l *link) corrupt(how string) error {
	return &wire.PeerError{Rank: l.peer, Err: fmt.Errorf("%w: the shared memory is corrupt: %s", wire.ErrDied, how)}
}
