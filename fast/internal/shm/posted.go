//go:build linux

package shm

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// While messages are posted that are not over, the rank holds its guard, so that the memory stays mapped.

// Post puts messages in flight beside those posted before.
func (e *Endpoint) Post(sends []wire.Send, recvs []wire.Recv) error {
	if !e.posted && !e.enter() {
		return e.reason()
	}
	e.posted = true
	err := e.reason()
	if err == nil {
		e.publish()
		err = e.list(sends, recvs, 0, 0)
	}
	if err != nil || e.open == 0 {
		e.unpost()
	}
	return err
}

// Progress moves the posted messages until one is over, Nudge is called, or until has ended.
func (e *Endpoint) Progress(ctx, until context.Context) error {
	if !e.posted {
		return e.reason()
	}
	goes := false
	defer func() {
		if !goes || e.open == 0 { // also if a kernel panics
			e.unpost()
		}
	}()
	if err := e.reason(); err != nil {
		return err
	}
	if err := e.complete(ctx, e.open-1, until); err != nil {
		return err
	}
	goes = true
	e.nudged.Store(false)
	e.reap()
	return nil
}

// unpost ends all messages that were posted.
func (e *Endpoint) unpost() {
	e.posted = false
	e.over()
}

// Nudge ends the Progress that runs, or the next one.
func (e *Endpoint) Nudge() {
	e.nudged.Store(true)
	if e.guard.acquire() {
		if v := e.own.sleeping.Load(); v != 0 {
			e.own.wake(v)
		}
		e.release()
	}
}

// leaves reports whether a Progress is to end, although nothing may be over. Until is nil in an Exchange.
func (e *Endpoint) leaves(until context.Context) bool {
	return until != nil && (e.nudged.Load() || until.Err() != nil)
}

// reap drops the messages that are over.
func (e *Endpoint) reap() {
	e.out = slices.DeleteFunc(e.out, func(m outgoing) bool {
		if m.done {
			m.Over = true
		}
		return m.done
	})
	e.in = slices.DeleteFunc(e.in, func(m incoming) bool {
		if m.done {
			m.Over = true
		}
		return m.done
	})
}
