package inproc

import (
	"context"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Post puts messages in flight beside those posted before.
func (e *Endpoint) Post(sends []wire.Send, recvs []wire.Recv) error {
	e.slept = time.Time{}
	err := e.given()
	if err == nil {
		err = e.list(sends, recvs)
	}
	if err != nil {
		e.forget()
	}
	return err
}

// Progress moves the posted messages until one is over, Nudge is called, or until has ended.
func (e *Endpoint) Progress(ctx, until context.Context) error {
	if e.open == 0 {
		return e.given()
	}
	goes := false
	defer func() {
		if !goes { // also if a kernel panics
			e.forget()
		}
	}()
	if err := e.given(); err != nil {
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

// Nudge ends the Progress that runs, or the next one.
func (e *Endpoint) Nudge() {
	e.nudged.Store(true)
	e.net.wake(e.rank)
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
