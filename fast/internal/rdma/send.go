package rdma

import (
	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

const (
	longBytes = 256 << 10 // the shortest message that asks for its destination
	pageBytes = 4 << 10   // parts are a multiple of this long, so that few of them share a page
)

// push sends what can be sent to peer, and reports whether that was anything.
func (e *Endpoint) push(peer int) (moved bool, err error) {
	l := &e.links[peer]
	for m := l.Sending(); m != nil; m = l.Sending() {
		if err = l.Err; err != nil || !l.ready || !e.step(l, m) {
			break
		}
		moved = true
		if m.At == len(m.Data) && m.Begun {
			e.CompleteSend(&l.Link)
			l.direct = directWrite{}
		}
	}
	e.post()
	return moved, err
}

// step does the next part of sending m, and reports whether it could.
func (e *Endpoint) step(l *link, m *linkbase.Outgoing) bool {
	switch {
	case l.direct.asked:
		return e.takeAnswer(l, m)
	case l.direct.to.granted:
		return e.stepDirect(l, m)
	}
	n, ok := e.writeSegment(l, m, m.Data[m.At:])
	m.At += n
	return ok
}

// writeSegment writes the next segment of m, out of what is left, into a slot. It returns how many bytes of the message
// the segment has. The first segment of a long message has none, and asks for the destination.
func (e *Endpoint) writeSegment(l *link, m *linkbase.Outgoing, left []byte) (n int, ok bool) {
	if l.out.room() == 0 || !l.main.canWrite() {
		return 0, false
	}
	n = min(len(left), int(l.conn.bytes)-payloadAt)
	if l.direct.asked = !m.Begun && len(left) >= longBytes; l.direct.asked {
		n = 0
	}
	from := l.compose(&m.Mark, uint64(len(left)), left[:n])
	slot := l.conn.remote.at + uint64(l.out.sent%l.out.slots)*uint64(l.conn.bytes)
	e.write(l.main, Write{Offset: from, Length: payloadAt + n - from, To: slot + uint64(from), Key: l.main.key,
		Immediate: immediate(immSegment, l.out.sent), Tell: true})
	l.out.sent++
	m.Begun = true
	return n, true
}

// compose puts a segment into the slot to send from, and returns where in the slot it begins.
func (l *link) compose(mark *wire.Mark, left uint64, data []byte) (from int) {
	slot := l.main.sendSlot()
	from = headerAt
	if l.lastCall != mark.Fingerprint {
		l.lastCall, from = mark.Fingerprint, callAt
		linkproto.AppendCallFrame(slot[callAt:callAt], linkproto.Call, mark.Call, mark.Fingerprint)
	}
	linkproto.Header{Kind: linkproto.Message, Left: left, Fingerprint: mark.Fingerprint}.Append(slot[headerAt:headerAt])
	copy(slot[payloadAt:], data)
	return from
}

// directWrite is how a long message is written to its destination.
type directWrite struct {
	asked  bool          // the receiver was asked for the destination, and has not answered
	to     remoteBuffer  // the answer
	from   *registration // the registered memory that the message lies in, if the destination is granted
	part   int           // the length of the parts that it is written in
	posted int           // bytes that were written to the destination, or are about to be
	last   uint64        // the number of the last write out of that memory on the main queue pair, plus 1
	ended  int           // on how many other queue pairs the receiver was told that all parts were written
	closed bool          // the same for the main one
}

// takeAnswer takes the peer's answer to where m goes, if it has arrived.
func (e *Endpoint) takeAnswer(l *link, m *linkbase.Outgoing) bool {
	if !l.answered || l.answer.n != l.Sent {
		return false
	}
	l.direct.asked, l.direct.to = false, l.answer
	if l.direct.to.granted {
		l.direct.from = e.registered.find(m.Data)
		l.direct.part = partBytes(len(m.Data), len(l.pairs), e.rails.maxMessage)
	}
	return true
}

// stepDirect is step for a message whose destination is granted. The last part on each queue pair is followed by what
// says so, on the main one a segment without bytes. Parts out of the caller's memory have to be read before the message
// is complete.
func (e *Endpoint) stepDirect(l *link, m *linkbase.Outgoing) bool {
	switch {
	case l.direct.posted < len(m.Data):
		return e.writePart(l, m)
	case !l.direct.closed:
		m.Gone = e.closeDirect(l, m)
		return m.Gone
	case !l.sendIsRead():
		return false
	}
	m.At = len(m.Data)
	return true
}

// closeDirect says on all queue pairs that m was written, and reports whether it could. An immediate on one queue pair
// says nothing about what was written on another one.
func (e *Endpoint) closeDirect(l *link, m *linkbase.Outgoing) bool {
	for ; l.direct.ended < len(l.pairs)-1; l.direct.ended++ {
		q := l.pairAfter(1 + l.direct.ended)
		if !q.canWrite() {
			return false
		}
		e.write(q, Write{To: l.conn.remote.at, Key: q.key, Immediate: immediate(immPart, l.sentDirect), Tell: true,
			Signal: true})
	}
	if _, l.direct.closed = e.writeSegment(l, m, nil); l.direct.closed {
		l.sentDirect++
	}
	return l.direct.closed
}

// partBytes returns the length of the parts, except the last one, of a message of n bytes over that many queue pairs,
// each of which takes at most most bytes at a time. Each queue pair then carries about as much as the others.
func partBytes(n, pairs, most int) int {
	most = max(most-most%pageBytes, pageBytes)
	rounds := (n-1)/(pairs*most) + 1
	part := (n-1)/(pairs*rounds) + 1
	return (part + pageBytes - 1) &^ (pageBytes - 1)
}

// writePart writes the next part of m to its destination: out of registered memory over one queue pair after the other,
// or else through a slot to send from, over the main one.
func (e *Endpoint) writePart(l *link, m *linkbase.Outgoing) bool {
	q, r := l.main, l.direct.from
	if r != nil {
		q = l.pairAfter(l.direct.posted / l.direct.part)
	}
	if !q.canWrite() {
		return false
	}
	w := Write{To: l.direct.to.at + uint64(l.direct.posted), Key: l.direct.to.keys[q.index]}
	if r != nil {
		w.From, w.Memory, w.Offset = r.regions[q.index], r.memory, r.offset(m.Data)+l.direct.posted
		w.Length = min(len(m.Data)-l.direct.posted, l.direct.part)
		w.Signal = true // it is long
	} else {
		w.Length = copy(q.sendSlot(), m.Data[l.direct.posted:])
	}
	e.write(q, w)
	l.direct.posted += w.Length
	if r != nil && q == l.main {
		l.direct.last = q.posted
	}
	return true
}
