package main

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time. It has a timer only once somebody waits for its end, so a short call with
// a timeout costs no timer.
type deadline struct {
	at    time.Time
	mu    sync.Mutex
	done  chan struct{}
	timer *time.Timer
}

// noLimit is the context of calls without a timeout.
var noLimit = context.Background()

// within returns a context that ends after so many nanoseconds, and never if they are not more than 0. Stop lets go of
// what it has when nobody waits for it any more.
func within(nanoseconds int64) (ctx context.Context, stop func()) {
	if nanoseconds <= 0 {
		return noLimit, func() {}
	}
	d := &deadline{at: time.Now().Add(time.Duration(nanoseconds))}
	return d, d.stop
}

// Deadline returns when d ends.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Done returns a channel that is closed when d ends.
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done = make(chan struct{})
		d.timer = time.AfterFunc(time.Until(d.at), func() { close(d.done) })
	}
	return d.done
}

// Err returns context.DeadlineExceeded after the end of d.
func (d *deadline) Err() error {
	if time.Until(d.at) > 0 {
		return nil
	}
	return context.DeadlineExceeded
}

// Value returns nil.
func (d *deadline) Value(any) any { return nil }

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
}
