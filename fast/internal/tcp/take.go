package tcp

import (
	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// pull takes what has come for the receive in turn on l, and tells whether that was anything. A receive for which
// nothing comes any more is an error.
func (e *Endpoint) pull(l *link) (bool, error) {
	m := l.receiving()
	if m == nil || !l.settled() {
		return false, nil
	}
	moved, err := e.take(l, m)
	if moved || err != nil {
		return moved, err
	}
	if !l.receive(m) {
		if (l.in.over != nil || l.verdict != nil) && l.in.dry {
			e.search(l)
			err = l.end()
		}
		return false, err
	}
	_, err = e.take(l, m)
	return true, err
}

// take takes out of l's buffer what belongs to m or comes before it, and tells whether that was anything. m is nil where
// no message is expected: then frames are taken up to the next message.
func (e *Endpoint) take(l *link, m *incoming) (moved bool, err error) {
	for in := &l.in; ; moved = true {
		if in.segment > 0 {
			if m == nil || l.place(m) == 0 {
				return moved, nil
			}
			continue
		}
		if m != nil && m.begun && m.at == len(m.Into) {
			e.received(l)
			return true, nil
		}
		if in.w-in.r < talk.HeaderBytes {
			return moved, nil
		}
		h, err := talk.ParseHeader(in.buf[in.r:])
		switch {
		case err != nil:
			return moved, l.died("it has sent %w", err)
		case h.Kind != talk.Message:
			if in.w-in.r < talk.HeaderBytes+bodyBytes(h) {
				return moved, nil
			}
			if err := e.hear(l, h, in.buf[in.r+talk.HeaderBytes:], in.read); err != nil {
				return moved, err
			}
			l.framed(h)
			in.skip(talk.HeaderBytes + bodyBytes(h))
		case m == nil:
			return moved, nil
		case h.Fingerprint != l.partner.Known:
			return moved, l.died("it has sent a message of a call that it has not told")
		case h.Fingerprint != m.fingerprint || h.Left != uint64(len(m.Into)-m.at):
			return moved, e.refuse(l, m, h)
		default:
			l.framed(h)
			in.skip(talk.HeaderBytes)
			in.segment, m.begun = bodyBytes(h), true
		}
	}
}

// framed takes note of a frame that is taken.
func (l *link) framed(h talk.Header) {
	if events.On {
		l.trail.Part(events.Framed, events.Part{Peer: l.peer, At: int(l.in.read), Bytes: bodyBytes(h), Via: events.Frame, Segment: uint32(h.Kind)})
	}
}

// place copies or reduces what has come of the current segment to its place, as far as it may go there, and gives how
// many bytes that was.
func (l *link) place(m *incoming) int {
	in := &l.in
	n := min(in.segment, in.w-in.r)
	if m.after != nil {
		n = min(n, m.after.at-m.at)
	}
	if m.Kernel != nil && m.at+n < len(m.Into) {
		n -= n % wire.Segment
	}
	if n == 0 {
		return 0
	}
	if m.Kernel != nil && in.r%8 != 0 {
		in.makeRoom()
	}
	m.apply(in.buf[in.r : in.r+n])
	in.skip(n)
	l.placed(m, n)
	return n
}

// apply copies or reduces data, the next part of the message, to its place.
func (m *incoming) apply(data []byte) {
	to := m.at + len(data)
	into := m.Into[m.at:to:to]
	switch {
	case m.Kernel == nil:
		copy(into, data)
	case m.ReceivedFirst:
		m.Kernel(into, data, m.With[m.at:to:to])
	default:
		m.Kernel(into, m.With[m.at:to:to], data)
	}
}

// placed takes note that n more bytes of m, of the current segment, are in place.
func (l *link) placed(m *incoming, n int) {
	if events.On && n > 0 {
		l.trail.Part(events.Placed, events.Part{Peer: l.peer, At: m.at, Bytes: n, Via: events.Frame})
	}
	m.at += n
	l.in.segment -= n
}

// received takes note that the message in turn on l is complete.
func (e *Endpoint) received(l *link) {
	if events.On && len(l.receiving().Into) == 0 {
		l.trail.Part(events.Placed, events.Part{Peer: l.peer, Via: events.Frame})
	}
	l.taken++
	l.receivedEver++
	e.open--
}
