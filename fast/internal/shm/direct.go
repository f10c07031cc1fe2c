//go:build linux

package shm

import (
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// A long message need not go through slots: one line offers it, and the receiver reads it in place, a piece at a time.
// The sender's Exchange then waits until all of it has been read. A sender that gives up earlier withdraws its offers,
// so that a receiver that has read memory changed in the meantime does not take it for the message.

// offer offers m, the next message of its ring, to be read in place, and reports whether it did. It does so if that is
// better than copying and nothing in this Exchange overwrites the message.
func (e *Endpoint) offer(m *outgoing, l *line) bool {
	if m.overwritten || len(m.Data) < directFrom {
		return false
	}
	where := uint32(inRegion)
	p, ok := e.registeredPlace(m.Data)
	if !ok {
		if !e.readable(m) {
			return false
		}
		where, p = inProcess, place{at: uint64(address(m.Data)), length: uint64(len(m.Data))}
	}
	r := &m.link.out
	l.left, l.fingerprint, l.where = left(len(m.Data)), m.call.Fingerprint, where
	*l.place() = p
	if m.Call != nil {
		r.head.calls[r.next%slots].write(m.call)
	}
	m.offered, m.segment = true, r.next
	if events.On {
		e.trail.Part(events.Put, m.part(0, len(m.Data), where))
	}
	r.next++
	l.seq.Store(r.next)
	e.wakeReceiver(m.link.control)
	return true
}

// conclude completes m, which was offered, if it has been read, and reports whether it did.
func (e *Endpoint) conclude(m *outgoing) (bool, error) {
	r := &m.link.out
	if !r.look() {
		return false, m.link.corrupt("a receiver took segments that were not sent")
	}
	if int32(r.taken-m.segment) <= 0 {
		return false, nil
	}
	if events.On {
		e.trail.Part(events.Sent, m.part(0, len(m.Data), m.link.out.head.lines[m.segment%depth].where))
	}
	m.done = true
	m.link.sending++
	e.open--
	return true, nil
}

// withdraw withdraws offers that have not been read, because the Exchange has failed and its memory may change now.
func (e *Endpoint) withdraw() {
	for i := range e.out {
		if m := &e.out[i]; m.offered && !m.done {
			m.link.out.head.withdrawn.Store(1)
			fence()
		}
	}
}

// accept begins to read an offered message in place. Line l, the next one, says where it lies.
func (e *Endpoint) accept(m *incoming, l *line, where uint32) (bool, error) {
	p := *l.place()
	if m.at != 0 || p.length != uint64(len(m.Into)) {
		return false, wire.LengthMismatch(m.call.Call, m.Peer, uint64(len(m.Into)), p.length)
	}
	source := m.link.region(p.number)
	n := uint64(len(source))
	switch {
	case p.length == 0:
		return false, m.link.corrupt("an empty message is offered")
	case where == inProcess && m.link.readable && uintptr(p.at) != 0: // see incoming.far
		m.source, m.far = e.peeking.buffer(), uintptr(p.at)
	case where == inRegion && p.at <= n && p.length <= n-p.at:
		m.source = source[p.at : p.at+p.length]
	default:
		return false, m.link.corrupt("a message lies where there is nothing")
	}
	return e.read(m)
}

// read reads the next piece of an accepted message, and reports whether it did.
func (e *Endpoint) read(m *incoming) (bool, error) {
	most := piece
	if m.far != 0 && m.Kernel == nil {
		most = peekPiece
	}
	n := min(most, len(m.Into)-m.at)
	if m.after != nil && m.after.at < m.at+n {
		return false, nil
	}
	if m.far == 0 {
		kernel.Apply(m.Recv, m.at, m.source[m.at:m.at+n])
	} else if err := e.take(m, n); err != nil {
		return false, err
	}
	if events.On {
		e.trail.Part(events.Placed, m.part(m.at, n, m.link.in.head.lines[m.link.in.next%depth].where, false))
	}
	if m.at += n; m.at < len(m.Into) {
		return true, nil
	}
	r := &m.link.in
	r.next++
	r.head.tail.Store(r.next)
	// The order matters: anything read before this load is unaffected by what the sender does after it has withdrawn.
	if r.head.withdrawn.Load() != 0 {
		return false, e.gaveUp(m.link)
	}
	e.wakeSender(m.link.control)
	m.done = true
	m.link.receiving++
	e.open--
	return true, nil
}
