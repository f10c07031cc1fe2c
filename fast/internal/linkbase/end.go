package linkbase

import (
	"sync"
	"sync/atomic"
)

// End is how an endpoint ends: others have it fail, or close it, while it may be in use; who has it then for the last
// time releases it. The mutex is for this, and for what others give the endpoint until it is closed. Doom and Reason
// are of the goroutine in an Exchange; all else may be called from any.
type End struct {
	sync.Mutex
	busy     bool // what the endpoint has is in use
	closed   bool
	fate     atomic.Pointer[error] // nil: nothing has ended it
	doom     error
	released chan struct{} // closed when everything was given back
}

// Fail has the Exchange in progress, and every later one, return err, and tells whether it is the first that does.
func (e *End) Fail(err error) bool { return e.fate.CompareAndSwap(nil, &err) }

// Failed returns what Fail was given first, or nil.
func (e *End) Failed() error {
	if f := e.fate.Load(); f != nil {
		return *f
	}
	return nil
}

// Doom is Fail for what a rank finds out by itself. What Fail is given comes before it, because this may be the
// consequence.
func (e *End) Doom(err error) {
	if e.doom == nil {
		e.doom = err
	}
}

// Reason returns why no Exchange succeeds any more, or nil.
func (e *End) Reason() error {
	if err := e.Failed(); err != nil {
		return err
	}
	return e.doom
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

// Enter begins a use of the endpoint, unless Fail was called: then it is that error.
func (e *End) Enter() error {
	e.Lock()
	defer e.Unlock()
	if err := e.Failed(); err != nil {
		return err
	}
	e.busy = true
	return nil
}

// Leave ends the use, and tells whether the endpoint was closed meanwhile: then it is to be released.
func (e *End) Leave() (release bool) {
	e.Lock()
	defer e.Unlock()
	e.busy = false
	return e.closed
}

// Close has the endpoint be closed, and tells whether it is to be released. Who uses it releases it otherwise, or it
// was closed before.
func (e *End) Close() (release bool) {
	e.Lock()
	defer e.Unlock()
	first := !e.closed
	e.closed = true
	return first && !e.busy
}

// Closed reports whether Close was called. The End is locked.
func (e *End) Closed() bool { return e.closed }
