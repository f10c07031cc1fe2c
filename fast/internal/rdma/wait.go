package rdma

import (
	"context"
	"runtime"
	"time"
)

const (
	nap      = 10 * time.Millisecond  // bounds a sleep: how late a rank sees that its context has ended
	vain     = 2 * nap                // how long a rank waits before it wonders
	patience = 100 * time.Microsecond // how long a rank looks for completions before it sleeps
	alone    = 10 * time.Microsecond  // how long it keeps its processor meanwhile
	probing  = 300 * time.Millisecond // how often a rank that only waits looks whether the other one's device answers
)

// look comes after a look at the queue that was in vain. It is false when it is time to sleep.
func (e *Endpoint) look() bool {
	if e.moved.IsZero() {
		e.moved = time.Now()
	}
	waited := time.Since(e.moved)
	if e.end.Reason() != nil || e.changed.Load() || waited >= patience {
		return false
	}
	if waited >= alone {
		runtime.Gosched()
	}
	return true
}

// sleep waits until something is done, or there is a reason to give up, but not longer than a nap. The queue is armed first, and
// looked at again.
func (e *Endpoint) sleep(ctx context.Context) error {
	failure := e.failure(ctx) // looked for first, because it does not undo what the failed rank did before
	e.adopt()
	if err := e.domain.Arm(); err != nil {
		return err
	}
	moved, err := e.advance()
	if moved || err != nil || e.open == 0 {
		return err
	}
	if failure != nil {
		return failure
	}
	if err := e.domain.Wait(nap); err != nil {
		return err
	}
	if waited := time.Since(e.moved); waited >= nap {
		e.awaited.Tell(e.active)
		if waited >= vain {
			return e.wonder(waited)
		}
	}
	return nil
}

// wonder comes after a wait in vain. What other ranks did before they said what they wait for is seen here: if there is a
// disagreement, this rank cannot go on indeed.
func (e *Endpoint) wonder(waited time.Duration) error {
	moved, err := e.advance()
	if moved || err != nil || e.open == 0 {
		return err
	}
	if waited >= probing {
		e.probe()
	}
	return e.inVain()
}

// probe writes nothing to ranks that are waited for, so that their devices answer, or do not.
func (e *Endpoint) probe() {
	now := time.Now()
	for _, peer := range e.active {
		l := &e.links[peer]
		if l.ready && !l.dead && l.ended == l.signed && l.canWrite() && now.Sub(l.probed) >= probing {
			l.probed = now
			e.write(l, Write{To: l.line.remote.at, Signal: true})
			e.post(l)
		}
	}
}
