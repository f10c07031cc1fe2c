package linkbase

import "time"

// Nap bounds a sleep: how late a rank sees that its context has ended.
const Nap = 10 * time.Millisecond

// Vain is how long a rank waits before it wonders.
const Vain = 2 * Nap

// Went takes note that something was sent or received.
func (e *Endpoint) Went() {
	e.idle = time.Time{}
	e.moves++
}

// WentOn is for a rank that has sent or received something: it waits for nobody. It is true now and then, when it is
// time to look for reasons to give up.
func (e *Endpoint) WentOn() bool {
	e.awaited.forget()
	if e.moves%64 != 0 {
		return false
	}
	e.progress.Store(e.moves)
	return true
}

// Idle is for a rank that can neither send nor receive anything: for how long it could not.
func (e *Endpoint) Idle() time.Duration {
	if e.idle.IsZero() {
		e.idle = time.Now()
		e.progress.Store(e.moves)
	}
	return time.Since(e.idle)
}

// Slept is for a rank that has slept for something to send or receive. It is true when it has waited in vain for so
// long that the other ranks may be waiting for it.
func (e *Endpoint) Slept() (inVain bool) {
	waited := e.Idle()
	if waited >= Nap {
		e.awaited.set(e.Active)
	}
	return waited >= Vain
}

// Moved returns a number that has grown if this rank has sent or received something since it was less. It may be some
// messages late while the rank moves fast, and is not when it waits. It may be called from any goroutine.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// Waiting returns the ranks that the Exchange in progress has been waiting for for a while, or that one was waiting for
// when it failed, in ascending order. It may be called from any goroutine.
func (e *Endpoint) Waiting() []int { return e.awaited.get() }
