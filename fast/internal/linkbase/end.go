package linkbase

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// End is how an endpoint ends. Others may fail or close it while it is in use; its last user then releases it. The
// mutex protects this, and what other goroutines give the endpoint until it is closed. Break and Reason belong to the
// goroutine in an Exchange, any goroutine may call the rest.
type End struct {
	sync.Mutex
	busy     bool // the endpoint is in use
	closed   bool
	failed   atomic.Pointer[error] // what Fail was given first
	broken   error                 // what Break was given first
	released chan struct{}         // closed when everything was given back
}

// Fail makes the Exchange in progress, and every later one, return err. It reports whether this is the first failure.
func (e *End) Fail(err error) bool { return e.failed.CompareAndSwap(nil, &err) }

// Failed returns what Fail was given first, or nil.
func (e *End) Failed() error {
	if f := e.failed.Load(); f != nil {
		return *f
	}
	return nil
}

// Break is Fail for what a rank finds out by itself. What Fail was given takes precedence, because err may be its
// consequence.
func (e *End) Break(err error) {
	if e.broken == nil {
		e.broken = err
	}
}

// Reason returns why no Exchange can succeed any more, or nil.
func (e *End) Reason() error {
	if err := e.Failed(); err != nil {
		return err
	}
	return e.broken
}

// Outcome returns the error of an Exchange in which err happened.
func (e *End) Outcome(err error) error {
	if err == nil {
		return nil
	}
	if failed := e.Failed(); failed != nil {
		return failed
	}
	return err
}

// Enter begins a use of the endpoint. It returns the error that Fail was given, if it was called.
func (e *End) Enter() error {
	e.Lock()
	defer e.Unlock()
	if err := e.Failed(); err != nil {
		return err
	}
	e.busy = true
	return nil
}

// Leave ends the use. It returns true if the endpoint was closed meanwhile, and the caller has to release it.
func (e *End) Leave() (release bool) {
	e.Lock()
	defer e.Unlock()
	e.busy = false
	return e.closed
}

// Close closes the endpoint. It returns true if the caller has to release it: nobody uses it, and it was not closed
// before.
func (e *End) Close() (release bool) {
	e.Lock()
	defer e.Unlock()
	first := !e.closed
	e.closed = true
	return first && !e.busy
}

// Closed reports whether Close was called. The caller holds the lock.
func (e *End) Closed() bool { return e.closed }

// MarkReleased ends every Wait: everything was given back.
func (e *End) MarkReleased() { close(e.released) }

// Wait waits until the endpoint, which is closed, is released: all that it has sent has arrived, or never will.
func (e *Endpoint) Wait() { <-e.End.released }

// drainAfterFailure is how long what was sent may take to arrive after a failure. It is short: nobody can use the data,
// and the control plane tells the other ranks of the failure as well.
const drainAfterFailure = 100 * time.Millisecond

// Drain is the wait, after Close, until what was sent has arrived at every rank that is not given up.
type Drain struct {
	endpoint *Endpoint
	deadline time.Time // zero: none
	left     int
	interval time.Duration
}

// Drain begins the wait of an endpoint that is being released.
func (e *Endpoint) Drain() *Drain {
	d := &Drain{endpoint: e, interval: time.Millisecond}
	if e.End.broken != nil || e.End.Failed() != wire.ErrClosed {
		d.deadline = time.Now().Add(drainAfterFailure)
	}
	return d
}

// Continue reports whether to wait on. left counts, in any unit, what has not arrived at the ranks of at, which are in
// ascending order.
func (d *Drain) Continue(left int, at []int) bool {
	if left == d.left {
		d.interval = min(2*d.interval, MaxSleep)
	} else {
		d.left, d.interval = left, time.Millisecond
	}
	waits := left > 0 && (d.deadline.IsZero() || time.Now().Before(d.deadline))
	if !waits {
		at = nil
	}
	if !slices.Equal(at, d.endpoint.Waiting()) {
		d.endpoint.awaited.Set(at)
	}
	return waits
}

// Interval returns how long to sleep before the next look. It grows while nothing arrives.
func (d *Drain) Interval() time.Duration { return d.interval }

// GiveUp makes the endpoint's release stop waiting for rank, which is down. It may be called from any goroutine.
func (e *Endpoint) GiveUp(rank int) { e.links[rank].givenUp.Store(true) }

// GivenUp reports whether GiveUp was called for the peer of l.
func (l *Link) GivenUp() bool { return l.givenUp.Load() }
