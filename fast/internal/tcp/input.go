package tcp

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

const (
	bufferBytes = 64 << 10 // the receive buffer of a link
	directBytes = 8 << 10  // where at least this much of a segment is missing, it is read to where it belongs
)

// input is what arrives on a link.
type input struct {
	flow    events.Flow
	buf     []byte // what has arrived and was not taken lies in buf[r:w]
	r, w    int
	segment int    // bytes of the current segment of the message in turn that were not taken
	read    uint64 // bytes of all frames that were taken so far
	scanned uint64 // frames before this point, in the same count, were inspected ahead of their turn
	empty   bool   // the socket had nothing when it was last tried
	err     error  // nothing arrives after what is in buf, and why
	opener  *opener
}

// errNoConnection ends the input from a rank to which no connection can be made.
var errNoConnection = errors.New("there is no connection")

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

// wanted returns how many bytes to read into the buffer for m. known is the fingerprint of the call that the peer told
// last. What can be read straight to its place later is left in the socket.
func (in *input) wanted(m *linkbase.Incoming, known uint64) int {
	switch {
	case in.segment >= directBytes:
		return in.segment + linkproto.HeaderBytes - (in.w - in.r)
	case in.segment > 0 || m.Kernel != nil || len(m.Into)-m.At < directBytes:
		return bufferBytes
	case known == m.Mark.Fingerprint:
		return linkproto.HeaderBytes - (in.w - in.r)
	}
	return 2*linkproto.HeaderBytes + linkproto.CallBytes - (in.w - in.r)
}

// fill reads at most limit bytes into the buffer, as far as there is room, and reports whether anything arrived.
func (in *input) fill(s Socket, limit int) bool {
	in.makeRoom()
	if in.opener != nil {
		return in.opener.fill(in, s)
	}
	room := in.buf[in.w:]
	if limit <= 0 { // an unusual frame
		limit = len(room)
	}
	n := in.readInto(s, room[:min(len(room), limit)])
	in.w += n
	return n > 0
}

// makeRoom moves what is in the buffer to its beginning, where it is aligned as elements are.
func (in *input) makeRoom() {
	if in.buf == nil || in.r == in.w && len(in.buf) > bufferBytes {
		in.buf, in.r, in.w = make([]byte, bufferBytes), 0, 0
	}
	if in.r > 0 {
		in.w = copy(in.buf, in.buf[in.r:in.w])
		in.r = 0
	}
}

// readInto reads what the socket has into b, and returns the number of bytes.
func (in *input) readInto(s Socket, b []byte) int {
	if in.err != nil || in.empty || len(b) == 0 {
		return 0
	}
	if s == nil {
		in.err, in.empty = errNoConnection, true
		return 0
	}
	n, err := s.Read(b)
	if events.On {
		in.flow.Moved(events.Came, n)
	}
	switch {
	case err == nil && n > 0:
		return n
	case err == nil:
		in.err, in.empty = io.EOF, true
	case err == unix.EAGAIN:
		in.empty = true
	case err != unix.EINTR:
		in.err, in.empty = err, true
	}
	return 0
}

// skip drops n bytes from the buffer.
func (in *input) skip(n int) {
	in.r += n
	in.read += uint64(n)
}
