package tcp

import (
	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

// push sends what can be sent to peer, at most one segment, and reports whether that was anything.
func (e *Endpoint) push(peer int) (bool, error) {
	l := &e.links[peer]
	o, m := &l.out, l.Sending()
	if m == nil && o.flushed() || !l.resolved() {
		return false, nil
	}
	if m != nil && (o.err != nil || l.in.err != nil || l.Err != nil) {
		e.readAhead(l)
		return false, l.endError()
	}
	if o.full || o.err != nil || l.socket == nil {
		return false, nil
	}
	moved := false
	if m != nil {
		moved = e.batch(l)
		m = l.Sending()
		moved = e.prepare(l, m) || moved
	}
	n := o.write(l.socket, l.payload(m))
	if n > 0 {
		if events.On {
			l.trail.Part(events.Sent, events.Part{Peer: l.Peer, At: m.At, Bytes: n, Via: events.Frame})
		}
		m.At, o.segment, moved = m.At+n, o.segment-n, true
	}
	if m != nil && m.At == len(m.Data) && m.Begun && o.flushed() {
		e.CompleteSend(&l.Link)
		moved = true
	}
	return moved, nil
}

// payload returns what is left of the current segment of m.
func (l *link) payload(m *linkbase.Outgoing) []byte {
	if m == nil {
		return nil
	}
	return m.Data[m.At : m.At+l.out.segment]
}

// batch appends whole messages to what is pending while they are short, so that one system call sends all of them. It
// reports whether there were any. A message that was copied is complete, since its memory may be used again. The last
// message of the Exchange is left: it is complete when all has gone out.
func (e *Endpoint) batch(l *link) (moved bool) {
	o := &l.out
	for m := l.Sending(); !m.Begun && !l.SendsLast() && len(o.pending)+len(m.Data) <= batchBytes; m = l.Sending() {
		e.prepare(l, m)
		o.pending = append(o.pending, m.Data...)
		if events.On && len(m.Data) > 0 {
			l.trail.Part(events.Sent, events.Part{Peer: l.Peer, Bytes: len(m.Data), Via: events.Frame})
		}
		m.At, o.segment, moved = len(m.Data), 0, true
		e.CompleteSend(&l.Link)
	}
	return moved
}

// prepare makes the header of m's next segment, if the previous one is complete, and reports whether it did.
func (e *Endpoint) prepare(l *link, m *linkbase.Outgoing) bool {
	o := &l.out
	if o.segment > 0 || m.Begun && m.At == len(m.Data) {
		return false
	}
	e.appendReport(l)
	if o.lastCall != m.Mark.Fingerprint {
		o.pending = linkproto.AppendCallFrame(o.pending, linkproto.Call, m.Mark.Call, m.Mark.Fingerprint)
		o.lastCall = m.Mark.Fingerprint
	}
	h := linkproto.Header{Kind: linkproto.Message, Left: uint64(len(m.Data) - m.At), Fingerprint: m.Mark.Fingerprint}
	o.pending = h.Append(o.pending)
	o.segment, m.Begun = bodyBytes(h), true
	if events.On {
		l.trail.Part(events.Put, events.Part{Peer: l.Peer, At: m.At, Bytes: o.segment, Via: events.Frame})
	}
	return true
}

// copyRest copies what is left of a segment that was begun, so that it can go out after the Exchange.
func (l *link) copyRest() {
	if m := l.Sending(); m != nil && l.out.segment > 0 {
		l.out.pending = append(l.out.pending, l.payload(m)...)
		l.out.segment = 0
	}
}
