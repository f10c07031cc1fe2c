package rdma

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/talk"
)

// repost is how many receives are posted at a time.
const repost = 8

// poll takes what the device has done.
func (e *Endpoint) poll() error {
	for {
		n, err := e.domain.Poll(e.completions[:])
		if err != nil {
			err = fmt.Errorf("%s: %w", e.domain.Name(), err)
			e.End.Doom(err)
			return err
		}
		for i := range e.completions[:n] {
			e.done(&e.completions[i])
		}
		if n < len(e.completions) {
			return nil
		}
	}
}

// done takes note of a completion.
func (e *Endpoint) done(c *Completion) {
	l := e.byQP[c.QP]
	if l == nil {
		e.adopt()
		if l = e.byQP[c.QP]; l == nil {
			return // of a link that nobody has used
		}
	}
	var err error
	switch {
	case c.Err != nil:
		l.broken(e, c)
		return
	case c.Received:
		err = e.received(l, c)
	default:
		err = l.written(c.ID + 1)
	}
	if err != nil {
		l.Fail(l.Died("%w", err))
		return
	}
	e.flush(l)
}

// broken takes note of a failed completion: nothing goes or comes any more. What was flushed says less than what broke the
// queue pair, and can come first.
func (l *link) broken(e *Endpoint, c *Completion) {
	if !c.Received && c.ID >= l.ended && c.ID < l.begun {
		l.ended = c.ID + 1
	}
	if l.flushed || l.Verdict == nil {
		l.flushed = errors.Is(c.Err, ErrFlushed)
		l.Verdict = l.Died("the link over %s broke: %w", e.domain.Name(), c.Err)
	}
	l.dead = true
}

// written takes note that all writes before number n are over.
func (l *link) written(n uint64) error {
	if n <= l.ended || n > l.begun {
		return fmt.Errorf("write %d is over, of those from %d to %d", n, l.ended, l.begun)
	}
	l.ended = n
	return nil
}

// received takes note of an immediate. Nothing of it can be trusted.
func (e *Endpoint) received(l *link, c *Completion) error {
	l.used++
	l.ready = true // or it would not write
	imm, ok := c.Immediate, true
	switch imm & immKinds {
	case immSegment:
		if ok = c.Bytes >= talk.HeaderBytes && c.Bytes <= l.line.bytes-callAt; ok {
			slot := l.in.come % l.in.slots
			if ok = l.in.arrive(imm); ok {
				l.came[slot] = c.Bytes
			}
		}
	case immAside:
		slot := l.heard.come % l.heard.slots
		if ok = c.Bytes <= asideBytes && l.heard.arrive(imm); ok {
			return e.hear(l, l.line.part(int(asideAt(l.line.slots, l.line.bytes)), slot, asideBytes)[:c.Bytes])
		}
	case immFreed:
		ok = c.Bytes == 0 && l.out.free(imm)
	case immAsideFreed:
		ok = c.Bytes == 0 && l.say.free(imm)
	}
	if !ok {
		return fmt.Errorf("it has sent an immediate %#x with %d bytes, which cannot be", imm, c.Bytes)
	}
	return nil
}

// flush writes what l has to say besides messages, as far as there is room.
func (e *Endpoint) flush(l *link) {
	if !l.ready || l.dead || l.line == nil {
		return
	}
	if l.used >= repost {
		if err := l.line.pair.Receive(l.used); err != nil {
			l.Fail(l.Died("%w", err))
			return
		}
		l.used = 0
	}
	if l.in.owes() && l.canWrite() {
		e.signal(l, immediate(immFreed, l.in.next))
		l.in.told = l.in.next
	}
	if l.heard.owes() && l.canWrite() {
		e.signal(l, immediate(immAsideFreed, l.heard.next))
		l.heard.told = l.heard.next
	}
	for len(l.unsaid) > 0 && l.say.room() > 0 && l.canWrite() {
		e.sayPart(l)
	}
	e.post(l)
}
