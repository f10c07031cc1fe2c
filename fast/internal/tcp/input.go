package tcp

import (
	"io"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

const (
	bufferBytes = 64 << 10 // of what has come on a link and was not taken yet
	directBytes = 8 << 10  // where more of a segment is missing, it is read to where it belongs
)

// input is what comes in on a link.
type input struct {
	buf     []byte // what has come lies in buf[r:w]
	r, w    int
	segment int    // bytes of the current segment of the message in turn that were not taken
	read    uint64 // bytes that were taken out of buf so far
	scanned uint64 // up to there, in the same count, frames were looked at before their turn
	told    wire.Call
	known   uint64 // the fingerprint of told, the call that was told last
	dry     bool   // nothing was there when the socket was last tried
	over    error  // nothing comes any more after what is in buf
	opener  *opener
}

// pull takes what has come for the receive in turn on l, and tells whether that was anything. A receive for which
// nothing comes any more is an error.
func (e *Endpoint) pull(l *link) (bool, error) {
	m := l.receiving()
	if m == nil || l.fd < 0 && l.verdict == nil {
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

// receive reads from the socket what m needs, and tells whether anything came.
func (l *link) receive(m *incoming) bool {
	in := &l.in
	if n := m.direct(in.segment); n >= directBytes && in.r == in.w && in.opener == nil {
		n = in.readInto(l.fd, m.Into[m.at:m.at+n])
		l.placed(m, n)
		return n > 0
	}
	return in.fill(l.fd, in.wanted(m))
}

// direct is how many bytes of the segment can be read to their place at once.
func (m *incoming) direct(segment int) int {
	switch {
	case m.Kernel != nil:
		return 0
	case m.after != nil:
		return min(segment, m.after.at-m.at)
	}
	return segment
}

// wanted is how many bytes to read into the buffer for m. What would be read directly later is left.
func (in *input) wanted(m *incoming) int {
	switch {
	case in.segment >= directBytes:
		return in.segment + headerBytes - (in.w - in.r)
	case in.segment > 0 || m.Kernel != nil || len(m.Into)-m.at < directBytes:
		return bufferBytes
	case in.known == m.fingerprint:
		return headerBytes - (in.w - in.r)
	}
	return 2*headerBytes + callBytes - (in.w - in.r)
}

// fill reads at most limit bytes into the buffer, as many as there is room for, and tells whether anything came.
func (in *input) fill(fd, limit int) bool {
	in.makeRoom()
	if in.opener != nil {
		return in.opener.fill(in, fd)
	}
	room := in.buf[in.w:]
	if limit <= 0 { // an unusual frame
		limit = len(room)
	}
	n := in.readInto(fd, room[:min(len(room), limit)])
	in.w += n
	return n > 0
}

// makeRoom moves what is in the buffer to its beginning, where it is as aligned as elements are.
func (in *input) makeRoom() {
	if in.buf == nil || in.r == in.w && len(in.buf) > bufferBytes {
		in.buf, in.r, in.w = make([]byte, bufferBytes), 0, 0
	}
	if in.r > 0 {
		in.w = copy(in.buf, in.buf[in.r:in.w])
		in.r = 0
	}
}

// readInto reads what the socket has, and gives how many bytes that was.
func (in *input) readInto(fd int, b []byte) int {
	if in.over != nil || in.dry || len(b) == 0 {
		return 0
	}
	n, err := readSocket(fd, b)
	switch {
	case err == nil && n > 0:
		return n
	case err == nil:
		in.over, in.dry = io.EOF, true
	case err == unix.EAGAIN:
		in.dry = true
	case err != unix.EINTR:
		in.over, in.dry = err, true
	}
	return 0
}

// skip takes n bytes out of the buffer.
func (in *input) skip(n int) {
	in.r += n
	in.read += uint64(n)
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
		if in.w-in.r < headerBytes {
			return moved, nil
		}
		h, err := parseHeader(in.buf[in.r:])
		switch {
		case err != nil:
			return moved, l.died("it has sent %w", err)
		case h.kind != kindMessage:
			if in.w-in.r < headerBytes+h.bytes() {
				return moved, nil
			}
			if err := e.hear(l, h, in.buf[in.r+headerBytes:], in.read); err != nil {
				return moved, err
			}
			in.skip(headerBytes + h.bytes())
		case m == nil:
			return moved, nil
		case h.fingerprint != in.known:
			return moved, l.died("it has sent a message of a call that it has not told")
		case h.fingerprint != m.fingerprint || h.left != uint64(len(m.Into)-m.at):
			return moved, l.refuse(m, h)
		default:
			in.skip(headerBytes)
			in.segment, m.begun = h.bytes(), true
		}
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
	m.at += n
	l.in.segment -= n
}

// received takes note that the message in turn on l is complete.
func (e *Endpoint) received(l *link) {
	l.taken++
	l.receivedEver++
	e.open--
}
