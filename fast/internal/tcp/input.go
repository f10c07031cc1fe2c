package tcp

import (
	"encoding/binary"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

const (
	directBytes  = 8 << 10 // where at least this much of a segment is missing, it is read to where it belongs
	controlBytes = 4 << 10 // how much of a message may be read before it is expected: it has to be copied later
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

// fill is input.fill.
func (o *opener) fill(in *input, from Socket) bool {
	if o.open(in) {
		return true
	}
	if o.w == len(o.buf) {
		o.w, o.r = copy(o.buf, o.buf[o.r:o.w]), 0
	}
	n := in.readInto(from, o.buf[o.w:])
	o.w += n
	o.open(in)
	return n > 0
}

// open opens the records that have arrived, as far as there is room, and reports whether there were any.
func (o *opener) open(in *input) (opened bool) {
	for {
		if o.r == o.w {
			o.r, o.w = 0, 0
		}
		rest := o.buf[o.r:o.w]
		if len(rest) < lengthBytes || errors.Is(in.err, errTampered) {
			return opened
		}
		length := rest[:lengthBytes]
		n := uint64(binary.LittleEndian.Uint32(length))
		if n < uint64(o.Overhead()) || n > uint64(recordBytes+o.Overhead()) {
			in.err, in.empty = errTampered, true
			return opened
		}
		if uint64(len(rest)) < lengthBytes+n || uint64(len(in.buf)-in.w) < n {
			return opened
		}
		plain, err := o.Open(in.buf[in.w:in.w], o.next(), rest[lengthBytes:lengthBytes+n], length)
		if err != nil {
			in.err, in.empty = errTampered, true
			return opened
		}
		in.w += len(plain)
		o.r += lengthBytes + int(n)
		opened = true
	}
}
