package linkbase

import (
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// afterFailure is how long what was sent may take to arrive after a failure: little, because nobody can use it, and why
// it failed the others hear over the control plane as well.
const afterFailure = 100 * time.Millisecond

// Drain is the wait, after Close, for what was sent to arrive. It lasts until nothing is on its way any more to a rank
// that is not given up.
type Drain struct {
	endpoint *Endpoint
	end      time.Time // zero: there is none
	left     int
	nap      time.Duration
}

// Drain is for the endpoint that is released now.
func (e *Endpoint) Drain() *Drain {
	d := &Drain{endpoint: e, nap: time.Millisecond}
	if e.End.doom != nil || e.End.Failed() != wire.ErrClosed {
		d.end = time.Now().Add(afterFailure)
	}
	return d
}

// GoesOn reports whether to wait on, where so many bytes, or whatever is counted, have not arrived at those ranks, in
// ascending order.
func (d *Drain) GoesOn(left int, at []int) bool {
	if left == d.left {
		d.nap = min(2*d.nap, Nap)
	} else {
		d.left, d.nap = left, time.Millisecond
	}
	goes := left > 0 && (d.end.IsZero() || time.Now().Before(d.end))
	if !goes {
		at = nil
	}
	if !slices.Equal(at, d.endpoint.Waiting()) {
		d.endpoint.awaited.set(at)
	}
	return goes
}

// Nap returns how long to sleep before looking again: longer where nothing arrives.
func (d *Drain) Nap() time.Duration { return d.nap }

// GiveUp ends the wait, after Close, for what was sent to a rank, which is down. It may be called from any goroutine.
func (e *Endpoint) GiveUp(rank int) { e.links[rank].givenUp.Store(true) }

// GivenUp reports whether that was called.
func (l *Link) GivenUp() bool { return l.givenUp.Load() }

// Released takes note that everything was given back.
func (e *End) Released() { close(e.released) }

// Wait waits until the endpoint, which is closed, was released: all that it has sent has arrived, or never will.
func (e *Endpoint) Wait() { <-e.End.released }
