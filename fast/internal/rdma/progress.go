package rdma

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// repost is how many receives are posted at a time.
const repost = 8

// poll takes what the devices have done. After a look in vain it is patient.
func (e *Endpoint) poll() error {
	patient := e.patient
	e.patient = false
	for i := range e.rails.all {
		if err := e.pollRail(&e.rails.all[i], patient); err != nil {
			return err
		}
	}
	return nil
}

func (e *Endpoint) pollRail(r *rail, patient bool) error {
	for {
		n, err := r.Poll(e.completions[:], patient)
		if err != nil {
			err = fmt.Errorf("%s: %w", r.Name(), err)
			e.End.Break(err)
			return err
		}
		for i := range e.completions[:n] {
			e.done(r, &e.completions[i])
		}
		if n < len(e.completions) {
			return nil
		}
	}
}

// done takes note of a completion.
func (e *Endpoint) done(r *rail, c *Completion) {
	t := r.lanes[c.QP]
	if t == nil {
		_ = e.adopt()
		if t = r.lanes[c.QP]; t == nil {
			return // of a link that nobody has used
		}
	}
	l := t.link
	var err error
	switch {
	case c.Err != nil:
		l.broken(t, c)
		return
	case c.Received:
		err = e.received(t, c)
	default:
		err = t.written(c.ID + 1)
	}
	if err != nil {
		l.Fail(l.PeerDied("%w", err))
		return
	}
	e.flush(l)
}

// broken takes note of a failed completion: nothing goes or comes any more, also on other lanes. What was flushed says
// less than what broke the queue pair, and can come first.
func (l *link) broken(t *lane, c *Completion) {
	if !c.Received && c.ID >= t.ended && c.ID < t.begun {
		t.ended = c.ID + 1
	}
	if l.flushed || l.Err == nil {
		l.flushed = errors.Is(c.Err, ErrFlushed)
		l.Err = l.PeerDied("the link over %s broke: %w", t.rail.Name(), c.Err)
		if !l.left.IsZero() {
			l.Err = l.lacks(wire.ErrClosed)
		}
	}
	l.dead = true
}

// received takes note of an immediate. Nothing of it can be trusted.
func (e *Endpoint) received(t *lane, c *Completion) error {
	l := t.link
	t.used++
	l.ready = true // or it would not write
	imm, ok := c.Immediate, true
	switch kind := imm & immKinds; {
	case t != l.main:
		ok = t.stripe(c)
	case kind == immSegment:
		if ok = c.Bytes >= linkproto.HeaderBytes && c.Bytes <= l.line.bytes-callAt; ok {
			slot := l.in.come % l.in.slots
			if ok = l.in.arrive(imm); ok {
				l.came[slot] = c.Bytes
			}
		}
	case kind == immAside:
		slot := l.heard.come % l.heard.slots
		if ok = c.Bytes <= asideBytes && l.heard.arrive(imm); ok {
			return e.hear(l, l.line.part(int(asideAt(l.line.slots, l.line.bytes)), slot, asideBytes)[:c.Bytes])
		}
	case kind == immFreed:
		ok = c.Bytes == 0 && l.out.free(imm)
	case kind == immAsideFreed:
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
	for i := range l.lanes {
		if err := l.lanes[i].replenish(); err != nil {
			l.Fail(l.PeerDied("%w", err))
			return
		}
	}
	if l.in.owes() && l.main.canWrite() {
		e.signal(l.main, immediate(immFreed, l.in.next))
		l.in.told = l.in.next
	}
	if l.heard.owes() && l.main.canWrite() {
		e.signal(l.main, immediate(immAsideFreed, l.heard.next))
		l.heard.told = l.heard.next
	}
	for len(l.unsaid) > 0 && l.say.room() > 0 && l.main.canWrite() {
		e.sayPart(l)
	}
	e.post()
}
