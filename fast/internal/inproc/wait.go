package inproc

import (
	"context"
	"runtime"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// patience is how often a rank looks whether it can go on: first at once, then with a yield to other goroutines before
// each look. After that it sleeps.
type patience struct{ spins, yields int }

// patienceFor suits size ranks on procs processors: where a rank may occupy the processor that another one needs, it
// yields at once.
func patienceFor(size, procs int) patience {
	if size <= procs {
		return patience{spins: 1000, yields: 20}
	}
	return patience{yields: 20}
}

// pause comes after a number of looks that were in vain. It is false when it is time to sleep.
func (p patience) pause(looks int) bool {
	switch {
	case looks < p.spins:
	case looks < p.spins+p.yields:
		runtime.Gosched()
	default:
		return false
	}
	return true
}

// sleep waits until another rank has done something that concerns this one, or until there is a reason to give up.
func (e *Endpoint) sleep(ctx context.Context) error {
	e.sleeping.Store(true)
	// From now on, who does something wakes this rank. What was done before is seen here; a failure is looked for first,
	// because it does not undo what the failed rank did before.
	failure := e.failure(ctx)
	moved, err := e.advance()
	if err == nil && !moved {
		err = failure
	}
	if moved || err != nil {
		e.rise()
		return err
	}
	select {
	case <-e.token:
	case <-ctx.Done():
		e.rise()
	}
	return nil
}

// rise ends a sleep, and takes the token if another rank has ended it.
func (e *Endpoint) rise() {
	if !e.sleeping.CompareAndSwap(true, false) {
		<-e.token
	}
}

// wake wakes rank if it sleeps. It comes after what the rank is to see.
func (n *network) wake(rank int) {
	e := n.endpoints[rank]
	if e.sleeping.Load() && e.sleeping.CompareAndSwap(true, false) {
		e.token <- struct{}{}
	}
}

func (n *network) wakeAll() {
	for rank := range n.endpoints {
		n.wake(rank)
	}
}

// failure is the reason to wait no longer, if there is one. The end of ctx comes before another rank's giving up, which
// it may be the cause of.
func (e *Endpoint) failure(ctx context.Context) error {
	if ctx.Err() != nil && !e.closed.Load() {
		return &wire.TimeoutError{Waiting: e.waiting(), Err: context.Cause(ctx)}
	}
	if err := e.given(); err != nil {
		return err
	}
	for i := range e.out {
		if m := &e.out[i]; !m.done && e.net.endpoints[m.Peer].closed.Load() {
			return &wire.PeerError{Rank: m.Peer, Err: wire.ErrClosed}
		}
	}
	for i := range e.in {
		if r := &e.in[i]; !r.done && e.net.endpoints[r.Peer].closed.Load() {
			return &wire.PeerError{Rank: r.Peer, Err: wire.ErrClosed}
		}
	}
	return nil
}

// waiting are the ranks of all messages that are not complete, in ascending order.
func (e *Endpoint) waiting() []int {
	var ranks []int
	for i := range e.out {
		if !e.out[i].done {
			ranks = append(ranks, e.out[i].Peer)
		}
	}
	for i := range e.in {
		if !e.in[i].done {
			ranks = append(ranks, e.in[i].Peer)
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
