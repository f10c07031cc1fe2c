package rdma

import (
	"context"
	"runtime"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

const (
	patience = 100 * time.Microsecond // how long a rank looks for completions before it sleeps
	alone    = 10 * time.Microsecond  // how long it keeps its processor meanwhile
)

// Probing is how often a rank that only waits looks whether the other one's device answers.
const Probing = 300 * time.Millisecond

// look comes after a look at the queues that was in vain, and has the next one be patient. It is false when it is time
// to sleep.
func (e *Endpoint) look() bool {
	waited := e.Idle()
	if e.End.Reason() != nil || e.changed.Load() || waited >= patience {
		return false
	}
	if waited >= alone {
		runtime.Gosched()
	}
	e.patient = true
	return true
}

// sleep waits until something is done, or there is a reason to give up, but not longer than a nap. The queue is armed
// first, and looked at again.
func (e *Endpoint) sleep(ctx context.Context) error {
	failure := e.Failure(ctx) // looked for first, because it does not undo what the failed rank did before
	e.adopt()
	if err := e.rails.arm(); err != nil {
		return err
	}
	moved, err := e.advance()
	if moved || err != nil || e.Open == 0 {
		return err
	}
	if failure != nil {
		return failure
	}
	if err := e.rails.sleep(linkbase.Nap); err != nil {
		return err
	}
	if e.Slept() {
		return e.wonder()
	}
	return nil
}

// wonder comes after a wait in vain. What other ranks did before they said what they wait for is seen here: if there is
// a disagreement, this rank cannot go on indeed.
func (e *Endpoint) wonder() error {
	moved, err := e.advance()
	if moved || err != nil || e.Open == 0 {
		return err
	}
	if e.Idle() >= Probing {
		e.probe()
	}
	return e.inVain()
}

// probe writes nothing to ranks that are waited for, so that their devices answer, or do not.
func (e *Endpoint) probe() {
	now := time.Now()
	for _, peer := range e.Active {
		l := &e.links[peer]
		if !l.ready || l.dead || now.Sub(l.probed) < Probing {
			continue
		}
		l.probed = now
		for i := range l.lanes {
			if t := &l.lanes[i]; t.ended == t.signed && t.canWrite() {
				e.write(t, Write{To: l.line.remote.at, Key: t.key, Signal: true})
			}
		}
		e.post()
	}
}
