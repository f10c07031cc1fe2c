package rdma

import (
	"github.com/collgen/collgen/fast/internal/links"
	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
)

// longBytes is from where on a message asks for its place.
const longBytes = 256 << 10

// push sends what can be sent on l, and tells whether that was anything.
func (e *Endpoint) push(l *link) (moved bool, err error) {
	for m := l.Sending(); m != nil && err == nil; m = l.Sending() {
		if l.Verdict != nil {
			return moved, l.Verdict
		}
		if !l.ready || !e.step(l, m) {
			break
		}
		moved = true
		if m.At == len(m.Data) && m.Begun {
			e.Sent(&l.Link)
			l.put = put{}
		}
	}
	e.post()
	return moved, nil
}

// step does the next part of m, and tells whether it could.
func (e *Endpoint) step(l *link, m *links.Outgoing) bool {
	switch {
	case l.put.asks:
		return e.learn(l, m)
	case l.put.to.granted:
		return e.stepPlaced(l, m)
	}
	n, ok := e.writeSegment(l, m, m.Data[m.At:])
	m.At += n
	return ok
}

// learn takes the other rank's answer to where m is to go, if it has come.
func (e *Endpoint) learn(l *link, m *links.Outgoing) bool {
	if !l.answered || l.answer.n != l.Sent {
		return false
	}
	l.put.asks, l.put.to = false, l.answer
	if l.put.to.granted {
		l.put.from = e.known.registered(m.Data)
		l.put.part = partBytes(len(m.Data), len(l.lanes), e.rails.most)
	}
	return true
}

// stepPlaced is step for a message whose place is granted. After its last part follows on each lane what says that it was the last
// one there, on the main one a segment without bytes; and if they go out of the caller's memory, they have to be gone.
func (e *Endpoint) stepPlaced(l *link, m *links.Outgoing) bool {
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

// closePlaced says on all lanes that all of m has been written, and tells whether it could. An immediate on one queue pair says nothing
// of what was written on another one.
func (e *Endpoint) closePlaced(l *link, m *links.Outgoing) bool {
	for ; l.put.ends < len(l.lanes)-1; l.put.ends++ {
		t := l.beside(1 + l.put.ends)
		if !t.canWrite() {
			return false
		}
		e.write(t, Write{To: l.line.remote.at, Immediate: immediate(immStripe, l.striped), Tell: true, Signal: true})
	}
	if _, l.put.closed = e.writeSegment(l, m, nil); l.put.closed {
		l.striped++
	}
	return l.put.closed
}

// writeSegment writes the next segment of m into a slot, out of what is left, and gives how many bytes it has. The first one of a
// long message has none but asks for its place.
func (e *Endpoint) writeSegment(l *link, m *links.Outgoing, left []byte) (n int, ok bool) {
	if l.out.room() == 0 || !l.main.canWrite() {
		return 0, false
	}
	n = min(len(left), int(l.line.bytes)-payloadAt)
	if l.put.asks = !m.Begun && len(left) >= longBytes; l.put.asks {
		n = 0
	}
	from := l.compose(&m.Mark, uint64(len(left)), left[:n])
	slot := l.line.remote.at + uint64(l.out.sent%l.out.slots)*uint64(l.line.bytes)
	e.write(l.main, Write{Offset: from, Length: payloadAt + n - from, To: slot + uint64(from),
		Immediate: immediate(immSegment, l.out.sent), Tell: true})
	l.out.sent++
	m.Begun = true
	return n, true
}

// compose puts a segment into the slot to send from, and gives where in it the segment begins.
func (l *link) compose(mark *wire.Mark, left uint64, data []byte) (from int) {
	slot := l.main.sendSlot()
	from = headerAt
	if l.told != mark.Fingerprint {
		l.told, from = mark.Fingerprint, callAt
		talk.AppendTold(slot[callAt:callAt], talk.Call, mark.Call, mark.Fingerprint)
	}
	talk.Header{Kind: talk.Message, Left: left, Fingerprint: mark.Fingerprint}.Append(slot[headerAt:headerAt])
	copy(slot[payloadAt:], data)
	return from
}

// pageBytes is what the length of parts is a multiple of, so that few of them share a page.
const pageBytes = 4 << 10

// partBytes is how many bytes the parts of a message have, but the last one, that goes over so many lanes, each of which takes at most
// so much at a time: then each lane has about as much as the others.
func partBytes(n, lanes, most int) int {
	most = max(most-most%pageBytes, pageBytes)
	rounds := (n-1)/(lanes*most) + 1
	part := (n-1)/(lanes*rounds) + 1
	return (part + pageBytes - 1) &^ (pageBytes - 1)
}

// writePart writes the next part of m to its place: out of registered memory, over one lane after the other; or through a slot to send
// from, over the main one.
func (e *Endpoint) writePart(l *link, m *links.Outgoing) bool {
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
