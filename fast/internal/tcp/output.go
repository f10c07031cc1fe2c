package tcp

import (
	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

// copyBytes is the longest message, or rest of one, that is copied behind its header instead of sent from where it is.
const copyBytes = 4 << 10

// output is what goes out on a link.
type output struct {
	flow     events.Flow
	pending  []byte // frames, or what is left of them, that go before the rest of the segment
	from     int    // how much of pending has gone out
	segment  int    // bytes of the current segment of the message in turn that have not gone out
	lastCall uint64 // the fingerprint of the call that the peer was told last
	full     bool   // the socket took no more when it was last tried
	err      error  // nothing goes out any more, and why
	sealer   *sealer
}

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
		moved = e.prepare(l, m)
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

// flushed reports whether all frames that were begun have gone out, except for the rest of a segment.
func (o *output) flushed() bool { return len(o.pending) == 0 && o.sealed() == 0 }

// sealed returns how many bytes of the last record have not gone out.
func (o *output) sealed() int {
	if o.sealer == nil {
		return 0
	}
	return len(o.sealer.record) - o.sealer.from
}

// write sends what is pending and then payload, as far as the socket takes it. It returns how much of payload was
// taken.
func (o *output) write(s Socket, payload []byte) int {
	if o.sealer != nil {
		return o.sealer.write(o, s, payload)
	}
	copied := 0
	if len(payload) <= copyBytes && len(o.pending) > 0 {
		o.pending = append(o.pending, payload...)
		copied, payload = len(payload), nil
	}
	head := o.pending[o.from:]
	if len(head)+len(payload) == 0 {
		return 0
	}
	n := o.result(s.Write(head, payload))
	o.drop(min(n, len(head)))
	return copied + max(0, n-len(head))
}

// drop removes n bytes from what is pending.
func (o *output) drop(n int) {
	if o.from += n; o.from == len(o.pending) {
		o.pending, o.from = o.pending[:0], 0
	}
}

// result returns how many bytes a system call has sent, and records why it sent none.
func (o *output) result(n int, err error) int {
	if events.On {
		o.flow.Moved(events.Wrote, n)
	}
	switch err {
	case nil:
		return n
	case unix.EAGAIN:
		o.full = true
	case unix.EINTR:
	default:
		o.err = err
	}
	return 0
}

// copyRest copies what is left of a segment that was begun, so that it can go out after the Exchange.
func (l *link) copyRest() {
	if m := l.Sending(); m != nil && l.out.segment > 0 {
		l.out.pending = append(l.out.pending, l.payload(m)...)
		l.out.segment = 0
	}
}

// flush sends what is pending, as far as the socket takes it.
func (o *output) flush(s Socket) {
	for !o.flushed() && !o.full && o.err == nil {
		o.write(s, nil)
	}
}
