package tcp

import (
	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/internal/events"
)

// copyBytes is the longest message, or rest of one, that is copied behind its header instead of sent from where it is.
const copyBytes = 4 << 10

// batchBytes is the most of what waits to go out to which a whole message is appended.
const batchBytes = 8 << 10

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

// flush sends what is pending, as far as the socket takes it.
func (o *output) flush(s Socket) {
	for !o.flushed() && !o.full && o.err == nil {
		o.write(s, nil)
	}
}

// write is output.write. What is copied from payload to a record counts as sent.
func (s *sealer) write(o *output, to Socket, payload []byte) int {
	if s.send(o, to); !s.flushed() {
		return 0
	}
	head := o.pending[o.from:]
	s.plain = append(s.plain[:0], head[:min(len(head), recordBytes)]...)
	o.drop(len(s.plain))
	n := min(len(payload), recordBytes-len(s.plain))
	s.plain = append(s.plain, payload[:n]...)
	if len(s.plain) > 0 {
		s.seal()
		s.send(o, to)
	}
	return n
}

func (s *sealer) send(o *output, to Socket) {
	if !s.flushed() {
		s.from += o.result(to.Write(s.record[s.from:], nil))
	}
}
