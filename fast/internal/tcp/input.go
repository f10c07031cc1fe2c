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
	bufferBytes = 64 << 10 // of what has come on a link and was not taken yet
	directBytes = 8 << 10  // where more of a segment is missing, it is read to where it belongs
)

// input is what comes in on a link.
type input struct {
	flow    events.Flow
	buf     []byte // what has come lies in buf[r:w]
	r, w    int
	segment int    // bytes of the current segment of the message in turn that were not taken
	read    uint64 // bytes of all frames that were taken so far
	scanned uint64 // up to there, in the same count, frames were looked at before their turn
	dry     bool   // nothing was there when the socket was last tried
	over    error  // nothing comes any more after what is in buf
	opener  *opener
}

// errNone is the end of what comes from a rank that no connection to can be had.
var errNone = errors.New("there is no connection")

// receive reads from the socket what m needs, and tells whether anything came.
func (l *link) receive(m *linkbase.Incoming) bool {
	in := &l.in
	if n := direct(m, in.segment); n >= directBytes && in.r == in.w && in.opener == nil {
		n = in.readInto(l.socket, m.Into[m.At:m.At+n])
		in.read += uint64(n)
		l.placed(m, n)
		return n > 0
	}
	return in.fill(l.socket, in.wanted(m, l.Partner.Known))
}

// direct returns how many bytes of the segment of m can be read to their place at once.
func direct(m *linkbase.Incoming, segment int) int {
	switch {
	case m.Kernel != nil:
		return 0
	case m.After != nil:
		return min(segment, m.After.At-m.At)
	}
	return segment
}

// wanted returns how many bytes to read into the buffer for m, where the call of that fingerprint was told last. What
// would be read directly later is left.
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

// fill reads at most limit bytes into the buffer, as many as there is room for, and tells whether anything came.
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
func (in *input) readInto(s Socket, b []byte) int {
	if in.over != nil || in.dry || len(b) == 0 {
		return 0
	}
	if s == nil {
		in.over, in.dry = errNone, true
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
