package tcp

import (
	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

// pull takes what has arrived for the receive in turn on the link to peer, and reports whether that was anything. It
// returns an error if the receive can never complete.
func (e *Endpoint) pull(peer int) (bool, error) {
	l := &e.links[peer]
	m := l.Receiving()
	if m == nil || !l.resolved() {
		return false, nil
	}
	moved, err := e.take(l, m)
	if moved || err != nil {
		return moved, err
	}
	if !l.receive(m) {
		if (l.in.err != nil || l.Err != nil) && l.in.empty {
			e.readAhead(l)
			err = l.endError()
		}
		return false, err
	}
	_, err = e.take(l, m)
	return true, err
}

// take takes out of l's buffer what belongs to m or precedes it, and reports whether that was anything. If m is nil, no
// message is expected, and frames are taken up to the next message.
func (e *Endpoint) take(l *link, m *linkbase.Incoming) (moved bool, err error) {
	for in := &l.in; ; moved = true {
		if in.segment > 0 {
			if m == nil || l.place(m) == 0 {
				return moved, nil
			}
			continue
		}
		if m != nil && m.Begun && m.At == len(m.Into) {
			e.completeReceive(l)
			return true, nil
		}
		if in.w-in.r < linkproto.HeaderBytes {
			return moved, nil
		}
		h, err := linkproto.ParseHeader(in.buf[in.r:])
		switch {
		case err != nil:
			return moved, l.PeerDied("it has sent %w", err)
		case h.Kind != linkproto.Message:
			if in.w-in.r < linkproto.HeaderBytes+bodyBytes(h) {
				return moved, nil
			}
			if err := e.handleControl(l, h, in.buf[in.r+linkproto.HeaderBytes:], in.read); err != nil {
				return moved, err
			}
			l.traceFrame(h)
			in.skip(linkproto.HeaderBytes + bodyBytes(h))
		case m == nil:
			return moved, nil
		default:
			if err := e.CheckSegment(&l.Link, m, h, len(m.Into)-m.At); err != nil {
				return moved, err
			}
			l.traceFrame(h)
			in.skip(linkproto.HeaderBytes)
			in.segment, m.Begun = bodyBytes(h), true
		}
	}
}

// traceFrame records a frame that is taken.
func (l *link) traceFrame(h linkproto.Header) {
	if events.On {
		l.trail.Part(events.Framed, events.Part{Peer: l.Peer, At: int(l.in.read), Bytes: bodyBytes(h), Via: events.Frame,
			Segment: uint32(h.Kind)})
	}
}

// place copies or reduces what has arrived of the current segment to its place, as far as it may go there, and returns
// the number of bytes.
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
	l.markPlaced(m, n)
	return n
}

// markPlaced counts n more bytes of m, of the current segment, as in place.
func (l *link) markPlaced(m *linkbase.Incoming, n int) {
	if events.On && n > 0 {
		l.trail.Part(events.Placed, events.Part{Peer: l.Peer, At: m.At, Bytes: n, Via: events.Frame})
	}
	m.At += n
	l.in.segment -= n
}

// completeReceive completes the receive in turn on l.
func (e *Endpoint) completeReceive(l *link) {
	if events.On && len(l.Receiving().Into) == 0 {
		l.trail.Part(events.Placed, events.Part{Peer: l.Peer, Via: events.Frame})
	}
	e.CompleteReceive(&l.Link)
}

// receive reads from the socket what m needs, and reports whether anything arrived.
func (l *link) receive(m *linkbase.Incoming) bool {
	in := &l.in
	if n := direct(m, in.segment); n >= directBytes && in.r == in.w && in.opener == nil {
		n = in.readInto(l.socket, m.Into[m.At:m.At+n])
		in.read += uint64(n)
		l.markPlaced(m, n)
		return n > 0
	}
	return in.fill(l.socket, in.wanted(m, l.Partner.LastFingerprint))
}

// direct returns how many bytes of the current segment of m can be read straight to their place.
func direct(m *linkbase.Incoming, segment int) int {
	switch {
	case m.Kernel != nil:
		return 0
	case m.After != nil:
		return min(segment, m.After.At-m.At)
	}
	return segment
}

// readControl takes what has arrived on a link on which no message is expected, up to the next message.
func (e *Endpoint) readControl(l *link) error {
	if in := &l.in; in.w-in.r < linkproto.HeaderBytes+linkproto.RefusedBytes {
		in.fill(l.socket, controlBytes)
	}
	_, err := e.take(l, nil)
	return err
}
