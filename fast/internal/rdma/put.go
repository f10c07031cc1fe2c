package rdma

import "github.com/collgen/collgen/fast/internal/linkbase"

// put is how a message is written to its place.
type put struct {
	asks   bool   // where it is to go, which was not answered
	to     place  // the answer
	from   *known // the registered memory that it lies in, if its place is granted
	part   int    // in parts of so many bytes it is written there
	placed int    // bytes that were written to its place, or soon will be
	last   uint64 // the number of the last write of them out of that memory on the main lane, plus 1
	ends   int    // on so many lanes beside the main one the other rank was told that all were
	closed bool   // and on the main one
}

// stepPlaced is step for a message whose place is granted. After its last part follows on each lane what says that it
// was the last one there, on the main one a segment without bytes; and if they go out of the caller's memory, they have
// to be gone.
func (e *Endpoint) stepPlaced(l *link, m *linkbase.Outgoing) bool {
	switch {
	case l.put.placed < len(m.Data):
		return e.writePart(l, m)
	case !l.put.closed:
		return e.closePlaced(l, m)
	case !l.gone():
		return false
	}
	m.At = len(m.Data)
	return true
}

// closePlaced says on all lanes that all of m has been written, and tells whether it could. An immediate on one queue
// pair says nothing of what was written on another one.
func (e *Endpoint) closePlaced(l *link, m *linkbase.Outgoing) bool {
	for ; l.put.ends < len(l.lanes)-1; l.put.ends++ {
		t := l.beside(1 + l.put.ends)
		if !t.canWrite() {
			return false
		}
		e.write(t, Write{To: l.line.remote.at, Key: t.key, Immediate: immediate(immStripe, l.striped), Tell: true, Signal: true})
	}
	if _, l.put.closed = e.writeSegment(l, m, nil); l.put.closed {
		l.striped++
	}
	return l.put.closed
}

// pageBytes is what the length of parts is a multiple of, so that few of them share a page.
const pageBytes = 4 << 10

// partBytes returns how many bytes the parts of a message have, but the last one, that goes over so many lanes, each of
// which takes at most so much at a time: then each lane has about as much as the others.
func partBytes(n, lanes, most int) int {
	most = max(most-most%pageBytes, pageBytes)
	rounds := (n-1)/(lanes*most) + 1
	part := (n-1)/(lanes*rounds) + 1
	return (part + pageBytes - 1) &^ (pageBytes - 1)
}

// writePart writes the next part of m to its place: out of registered memory, over one lane after the other; or through
// a slot to send from, over the main one.
func (e *Endpoint) writePart(l *link, m *linkbase.Outgoing) bool {
	t, k := l.main, l.put.from
	if k != nil {
		t = l.beside(l.put.placed / l.put.part)
	}
	if !t.canWrite() {
		return false
	}
	w := Write{To: l.put.to.at + uint64(l.put.placed), Key: l.put.to.keys[t.index]}
	if k != nil {
		w.From, w.Memory, w.Offset = k.regions[t.index], k.memory, k.offset(m.Data)+l.put.placed
		w.Length = min(len(m.Data)-l.put.placed, l.put.part)
		w.Signal = true // it is long
	} else {
		w.Length = copy(t.sendSlot(), m.Data[l.put.placed:])
	}
	e.write(t, w)
	l.put.placed += w.Length
	if k != nil && t == l.main {
		l.put.last = t.begun
	}
	return true
}
