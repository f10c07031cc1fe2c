package rdma

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// poll handles what the devices have completed. It is patient if the last round made no progress.
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
			e.handle(r, &e.completions[i])
		}
		if n < len(e.completions) {
			return nil
		}
	}
}

// handle processes a completion.
func (e *Endpoint) handle(r *rail, c *Completion) {
	q := r.pairs[c.QP]
	if q == nil {
		_ = e.adopt()
		if q = r.pairs[c.QP]; q == nil {
			return // of a link that nobody has used
		}
	}
	l := q.link
	var err error
	switch {
	case c.Err != nil:
		l.handleError(q, c)
		return
	case c.Received:
		err = e.handleImmediate(q, c)
	default:
		err = q.completeWrites(c.ID + 1)
	}
	if err != nil {
		l.Fail(l.PeerDied("%w", err))
		return
	}
	e.flushControl(l)
}

// handleError processes a failed completion: the link is dead, on all queue pairs. A flushed completion says less than
// what broke the queue pair, and can come first.
func (l *link) handleError(q *queuePair, c *Completion) {
	if !c.Received && c.ID >= q.done && c.ID < q.posted {
		q.done = c.ID + 1
	}
	if l.flushed || l.Err == nil {
		l.flushed = errors.Is(c.Err, ErrFlushed)
		l.Err = l.PeerDied("the link over %s broke: %w", q.rail.Name(), c.Err)
		if !l.left.IsZero() {
			l.Err = l.wrapConnectError(wire.ErrClosed)
		}
	}
	l.dead = true
}

// handleImmediate processes an immediate. Nothing in it can be trusted.
func (e *Endpoint) handleImmediate(q *queuePair, c *Completion) error {
	l := q.link
	q.consumed++
	l.ready = true // otherwise the peer would not write
	imm, ok := c.Immediate, true
	switch kind := imm & immKinds; {
	case q != l.main:
		ok = q.completePart(c)
	case kind == immSegment:
		if ok = c.Bytes >= linkproto.HeaderBytes && c.Bytes <= l.conn.bytes-callAt; ok {
			slot := l.in.arrived % l.in.slots
			if ok = l.in.arrive(imm); ok {
				l.written[slot] = c.Bytes
			}
		}
	case kind == immControl:
		slot := l.controlIn.arrived % l.controlIn.slots
		if ok = c.Bytes <= controlBytes && l.controlIn.arrive(imm); ok {
			at := int(controlOffset(l.conn.slots, l.conn.bytes))
			return e.handleControl(l, l.conn.slot(at, slot, controlBytes)[:c.Bytes])
		}
	case kind == immFreed:
		ok = c.Bytes == 0 && l.out.free(imm)
	case kind == immControlFreed:
		ok = c.Bytes == 0 && l.controlOut.free(imm)
	}
	if !ok {
		return fmt.Errorf("it has sent an immediate %#x with %d bytes, which cannot be", imm, c.Bytes)
	}
	return nil
}
