//go:build linux

package shm

import (
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/relatomic"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Short messages lie in their lines, or in one slot, and most Exchanges have no others. They are sent and received
// at once, without being listed. The first one for which that is not possible is listed together with all that follow,
// and handled like any other message. That path also finds all errors.

// short is the most bytes of a short message.
const short = 8 << 10

// burst is how often a rank looks for a message before it looks for anything else.
const burst = 64

// sendShort sends the first of sends, up to one that is not short or for which the ring is full, and returns how many
// it sent. What goes to several ranks through slots is listed, since they may share a slot.
func (e *Endpoint) sendShort(sends []wire.Send) int {
	most := short
	if len(sends) > 1 && e.mem.size > 2 {
		most = inline
	}
	for i := range sends {
		if !e.dispatch(&sends[i], most) {
			return i
		}
	}
	return len(sends)
}

// dispatch sends m if it has at most so many bytes and the ring is not full, and reports whether it did.
func (e *Endpoint) dispatch(m *wire.Send, most int) bool {
	n, window := len(m.Data), uint32(depth)
	if m.Call != nil || n > most || uint(m.Peer) >= uint(len(e.links)) || m.Peer == e.rank {
		return false
	}
	if n > inline {
		window = slots
	}
	l := &e.links[m.Peer]
	r := &l.out
	if r.next-r.taken >= window && (!r.look() || r.next-r.taken >= window) {
		return false
	}
	line, where := &r.head.lines[r.next%depth], uint32(inSmall)
	switch i := int(r.next % slots); {
	case n <= inline:
		copy(line.inline[:], m.Data)
	case n <= small:
		r.small.write(i, m.Data)
	case e.grown && i < r.full.n:
		r.full.write(i, m.Data)
		where = inFull
	default:
		return false
	}
	line.left, line.where, line.fingerprint = uint32(n), where, e.current.Fingerprint
	if events.On {
		e.trail.Part(events.Put, events.Part{Peer: m.Peer, Bytes: n, Via: via(where, n), Segment: r.next})
	}
	l.sends++
	l.sending++
	r.next++
	e.announce(l, &line.seq, r.next)
	// The receiver's caches still hold the lines of the last round, and a sender that runs ahead would wait for each of
	// them. Fetching the line after the next is best: a broadcast of 8 bytes took 0.55 to 0.6 of the time with it, 0.7
	// with the next line, and 0.8 with the fourth.
	relatomic.FetchOwned(&r.head.lines[(r.next+1)%depth].seq)
	e.wakeReceiver(l.control)
	return true
}

// receiveShort receives the first of recvs, up to one that is not short or does not arrive soon, and returns how many
// it received. All of sends have been sent.
func (e *Endpoint) receiveShort(sends []wire.Send, recvs []wire.Recv) int {
	for i := range recvs {
		if m := &recvs[i]; m.AfterSend && !answers(m, sends) || !e.fetch(m) {
			return i
		}
	}
	return len(recvs)
}

// fetch receives m if it is short and arrives soon, and reports whether it did. It copies a message that could be lent,
// which takes no longer.
func (e *Endpoint) fetch(m *wire.Recv) bool {
	n := len(m.Into)
	if m.Call != nil || n > short || uint(m.Peer) >= uint(len(e.links)) || m.Peer == e.rank {
		return false
	}
	l := &e.links[m.Peer]
	r := &l.in
	line := &r.head.lines[r.next%depth]
	if line.seq.Load() == r.next+1 { // more may be there already
		relatomic.Fetch(&r.head.lines[(r.next+1)%depth].seq)
	} else if !e.awaitNext(l, line) {
		return false
	}
	where := line.where // once: a broken sender may change it
	if line.fingerprint != e.current.Fingerprint || line.left != uint32(n) || where >= nowhere {
		return false
	}
	data := e.segment(l, line, where, n)
	if len(data) != n {
		return false
	}
	if events.On {
		e.trail.Part(events.Placed, events.Part{Peer: m.Peer, Bytes: n, Via: via(where, n), Segment: r.next})
	}
	l.recvs++
	l.receiving++
	r.next++
	kernel.Apply(m, 0, data)
	e.taken(l)
	return true
}

// awaitNext waits for the next segment of l, whose line is line, as long as the rank spins without yielding, and
// reports whether it arrived.
func (e *Endpoint) awaitNext(l *link, line *line) bool {
	if cpu := e.own.cpu.Load(); cpu != 0 && cpu == l.control.cpu.Load() {
		return false
	}
	for looks := e.beginWait().spins; looks > 0 && e.ended.Load() == nil; looks -= burst {
		if relatomic.Await(&line.seq, l.in.next+1, min(looks, burst)) {
			return true
		}
	}
	e.spun = true
	return false
}
