package rdma

import (
	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// longBytes is from where on a message asks for its place.
const longBytes = 256 << 10

// push sends what can be sent on l, and tells whether that was anything.
func (e *Endpoint) push(peer int) (moved bool, err error) {
	l := &e.links[peer]
	for m := l.Sending(); m != nil; m = l.Sending() {
		if err = l.Err; err != nil || !l.ready || !e.step(l, m) {
			break
		}
		moved = true
		if m.At == len(m.Data) && m.Begun {
			e.CompleteSend(&l.Link)
			l.put = put{}
		}
	}
	e.post()
	return moved, err
}

// step does the next part of m, and tells whether it could.
func (e *Endpoint) step(l *link, m *linkbase.Outgoing) bool {
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
func (e *Endpoint) learn(l *link, m *linkbase.Outgoing) bool {
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

// writeSegment writes the next segment of m into a slot, out of what is left, and gives how many bytes it has. The
// first one of a long message has none but asks for its place.
func (e *Endpoint) writeSegment(l *link, m *linkbase.Outgoing, left []byte) (n int, ok bool) {
	if l.out.room() == 0 || !l.main.canWrite() {
		return 0, false
	}
	n = min(len(left), int(l.line.bytes)-payloadAt)
	if l.put.asks = !m.Begun && len(left) >= longBytes; l.put.asks {
		n = 0
	}
	from := l.compose(&m.Mark, uint64(len(left)), left[:n])
	slot := l.line.remote.at + uint64(l.out.sent%l.out.slots)*uint64(l.line.bytes)
	e.write(l.main, Write{Offset: from, Length: payloadAt + n - from, To: slot + uint64(from), Key: l.main.key,
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
		linkproto.AppendTold(slot[callAt:callAt], linkproto.Call, mark.Call, mark.Fingerprint)
	}
	linkproto.Header{Kind: linkproto.Message, Left: left, Fingerprint: mark.Fingerprint}.Append(slot[headerAt:headerAt])
	copy(slot[payloadAt:], data)
	return from
}
