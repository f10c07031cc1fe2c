package tcp

import (
	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

// pull takes what has come for the receive in turn on l, and tells whether that was anything. A receive for which
// nothing comes any more is an error.
func (e *Endpoint) pull(l *link) (bool, error) {
	m := l.Receiving()
	if m == nil || !l.settled() {
		return false, nil
	}
	moved, err := e.take(l, m)
	if moved || err != nil {
		return moved, err
	}
	if !l.receive(m) {
		if (l.in.over != nil || l.Verdict != nil) && l.in.dry {
			e.search(l)
			err = l.end()
		}
		return false, err
	}
	_, err = e.take(l, m)
	return true, err
}

// take takes out of l's buffer what belongs to m or comes before it, and tells whether that was anything. m is nil
// where no message is expected: then frames are taken up to the next message.
func (e *Endpoint) take(l *link, m *linkbase.Incoming) (moved bool, err error) {
	for in := &l.in; ; moved = true {
		if in.segment > 0 {
			if m == nil || l.place(m) == 0 {
				return moved, nil
			}
			continue
		}
		if m != nil && m.Begun && m.At == len(m.Into) {
			e.received(l)
			return true, nil
		}
		if in.w-in.r < linkproto.HeaderBytes {
			return moved, nil
		}
		h, err := linkproto.ParseHeader(in.buf[in.r:])
		switch {
		case err != nil:
			return moved, l.Died("it has sent %w", err)
		case h.Kind != linkproto.Message:
			if in.w-in.r < linkproto.HeaderBytes+bodyBytes(h) {
				return moved, nil
			}
			if err := e.hear(l, h, in.buf[in.r+linkproto.HeaderBytes:], in.read); err != nil {
				return moved, err
			}
			l.framed(h)
			in.skip(linkproto.HeaderBytes + bodyBytes(h))
		case m == nil:
			return moved, nil
		default:
			if err := e.Check(&l.Link, m, h, len(m.Into)-m.At); err != nil {
				return moved, err
			}
			l.framed(h)
			in.skip(linkproto.HeaderBytes)
			in.segment, m.Begun = bodyBytes(h), true
		}
	}
}

// framed takes note of a frame that is taken.
func (l *link) framed(h linkproto.Header) {
	if events.On {
		l.trail.Part(events.Framed, events.Part{Peer: l.Peer, At: int(l.in.read), Bytes: bodyBytes(h), Via: events.Frame, Segment: uint32(h.Kind)})
	}
}

// place copies or reduces what has come of the current segment to its place, as far as it may go there, and gives how
// many bytes that was.
func (l *link) place(m *linkbase.Incoming) int {
	in := &l.in
	n := m.Fits(min(in.segment, in.w-in.r))
	if n == 0 {
		return 0
	}
	if m.Kernel != nil && in.r%8 != 0 {
		in.makeRoom()
	}
	m.Apply(in.buf[in.r : in.r+n])
	in.skip(n)
	l.placed(m, n)
	return n
}

// placed takes note that n more bytes of m, of the current segment, are in place.
func (l *link) placed(m *linkbase.Incoming, n int) {
	if events.On && n > 0 {
		l.trail.Part(events.Placed, events.Part{Peer: l.Peer, At: m.At, Bytes: n, Via: events.Frame})
	}
	m.At += n
	l.in.segment -= n
}

// received takes note that the message in turn on l is complete.
func (e *Endpoint) received(l *link) {
	if events.On && len(l.Receiving().Into) == 0 {
		l.trail.Part(events.Placed, events.Part{Peer: l.Peer, Via: events.Frame})
	}
	e.Received(&l.Link)
}
