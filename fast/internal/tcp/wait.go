package tcp

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

const (
	// patience is how long a rank looks at its sockets before it sleeps, for each rank that its processor has to serve:
	// longer than it takes to wake another one that sleeps, which would else find this one asleep, and so on.
	patience     = 100 * time.Microsecond
	mostPatience = time.Millisecond
	alone        = 10 * time.Microsecond // how long it keeps its processor meanwhile, if processors are plenty
	few          = 8                     // so many sockets are looked at one by one
)

// patienceFor returns the patience of each of some ranks on so many processors. The one that is waited for may be the
// last to have its turn.
func patienceFor(ranks, processors int) time.Duration {
	turns := (max(ranks, 1) + processors - 1) / processors
	return min(time.Duration(turns)*patience, mostPatience)
}

// cores is the number of processors that this process may use.
var cores = runtime.NumCPU()

// exchanges is how many are in progress in this process, of all endpoints.
var exchanges atomic.Int32

// giveWay lets others have the processor if those that look at their sockets may outnumber the processors: other
// processes, and goroutines of this one if more than one looks. Who has waited for a while does so in any case: the
// rank that it waits for may be waiting for this very processor.
func (e *Endpoint) giveWay(waited time.Duration) {
	n := int(exchanges.Load())
	if n*e.beside <= cores && waited < alone {
		return
	}
	yield()
	if n > 1 {
		runtime.Gosched()
	}
}

// look comes after a look at the sockets that was in vain, and prepares the next one. It is false when it is time to
// sleep.
func (e *Endpoint) look() bool {
	waited := e.Idle()
	if e.End.Reason() != nil || e.arrived.Load() || waited >= e.patience {
		return false
	}
	e.giveWay(waited)
	if len(e.Active) > few {
		e.heed(0)
		return true
	}
	for _, peer := range e.Active {
		l := &e.links[peer]
		l.in.dry, l.out.full = l.in.over != nil, false
	}
	return true
}

// sleep waits until something has come or gone, or there is a reason to give up, but not longer than a nap.
func (e *Endpoint) sleep(ctx context.Context) error {
	failure := e.Failure(ctx) // looked for first, because it does not undo what the failed rank did before
	if err := e.adopt(); err != nil {
		return err
	}
	moved, err := e.advance()
	if moved || err != nil || e.Open == 0 {
		return err
	}
	if failure != nil {
		return failure
	}
	if err := e.heed(linkbase.Nap); err != nil {
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
	return e.inVain()
}

// heed waits for at most that long until sockets are ready, and notes which. On those where no message is expected it
// listens for what the other rank has to say.
func (e *Endpoint) heed(atMost time.Duration) error {
	ready, err := e.poller.wait(e, atMost)
	if err != nil {
		return err
	}
	e.napped = atMost > 0 && len(ready) == 0
	for _, r := range ready {
		l := &e.links[r.peer]
		if l.socket == nil {
			continue
		}
		l.in.dry, l.out.full = l.in.dry && !r.in || l.in.over != nil, l.out.full && !r.out
		if r.in && l.Receiving() == nil {
			if err := e.listen(l); err != nil {
				l.Fail(err)
			}
		}
	}
	return nil
}

// watches returns what the rank sleeps for on l: what the Exchange can go on with, and after a nap in vain all that
// comes.
func (e *Endpoint) watches(l *link) (in, out bool) {
	return l.in.over == nil && (l.Receiving() != nil && l.in.dry || e.napped), l.out.full && l.out.over == nil
}

// waiter waits for the sockets of an Endpoint.
type waiter interface {
	// add has it know that there is a socket to peer.
	add(peer int) error
	// wait waits until a socket that e watches is ready, the time is over, or somebody wakes it.
	wait(e *Endpoint, atMost time.Duration) ([]readiness, error)
	// wake ends a wait, from any goroutine, after what the waiting one is to see.
	wake()
	close()
}

// readiness is what the poller says of a link.
type readiness struct {
	peer    int
	in, out bool
}
