//go:build linux

package shm

import (
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/internal/events"
)

// push puts the next segment of m into a slot, if one is free, and reports whether it did.
func (e *Endpoint) push(m *outgoing) (bool, error) {
	if !m.inTurn() {
		return false, nil
	}
	if m.offered {
		return e.conclude(m)
	}
	r := &m.link.out
	if window := m.window(); r.next-r.taken >= window {
		if !r.look() {
			return false, m.link.corrupt("a receiver took segments that were not sent")
		}
		if r.next-r.taken >= window {
			return false, nil
		}
	}
	l := &r.head.lines[r.next%depth]
	if m.at == 0 {
		if e.offer(m, l) {
			return true, nil
		}
		e.growFor(len(m.Data))
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

// put stores the next segment of m, with the line l, in the first place that fits, and returns its length.
func (e *Endpoint) put(m *outgoing, l *line) (n int) {
	rest := m.Data[m.at:]
	if m.shared > 0 {
		if l.where, n = e.putShared(m, rest); n > 0 {
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
		if l.where, n = e.putAlone(r, rest); n > 0 {
			return n
		}
	}
	l.where = inSmall
	return r.small.write(i, rest)
}

// pull takes the next segment of m out of its slot, if it has arrived and may be written, and reports whether it did.
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

// segment returns the data of the next segment of l, according to its line and where, for a message of which rest bytes
// are missing. It returns nil if the peer has no memory at that place.
func (e *Endpoint) segment(l *link, line *line, where uint32, rest int) []byte {
	from, i := &l.in.small, l.in.next%slots
	switch {
	case where == inSmall && rest <= inline:
		return line.inline[:rest:rest]
	case where == inSmall:
	case where == inFull:
		from = &l.in.full
	case where < inFullMulticast:
		from, i = &l.multicast, where-inMulticast
	case where < nowhere:
		from, i = &l.fullMulticast, where-inFullMulticast
	default:
		return nil
	}
	if int(i) >= from.n || !from.there && !e.find(from) {
		return nil
	}
	return from.data(int(i), min(from.slot, rest))
}

// advance does everything that needs no waiting, and reports whether it did anything.
func (e *Endpoint) advance() (moved bool, err error) {
	for i := range e.out {
		did, err := e.push(&e.out[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	for i := range e.in {
		did, err := e.pull(&e.in[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	if moved {
		e.moves++
	}
	return moved, nil
}
