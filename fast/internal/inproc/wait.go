package inproc

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// yields is how often a rank looks in vain whether it can go on, and lets other goroutines run, before it sleeps.
// Looking again at once never pays: ranks are goroutines, and the one waited for may need this processor.
const yields = 20

// while is how long a rank has slept in vain before Waiting tells.
const while = 10 * time.Millisecond

// How awake a rank is. Only the rank itself becomes drowsy and asleep; who sets it back to awake gives it a token, or
// is the rank itself.
const (
	awake  uint32 = iota
	drowsy        // it looks a last time whether it can go on
	asleep        // it touches nothing before it has a token, or has set itself back to awake
)

// sleep waits until another rank has done something that concerns this one, or until there is a reason to give up.
func (e *Endpoint) sleep(ctx context.Context) error {
	e.state.Store(drowsy)
	// From now on, who does something wakes this rank. What was done before is seen here; a failure is looked for
	// first, because it does not undo what the failed rank did before.
	failure := e.failure(ctx)
	moved, err := e.advance()
	if err == nil && !moved {
		err = failure
	}
	if moved || err != nil {
		e.rise()
		return err
	}
	if e.slept.IsZero() {
		e.slept = time.Now()
	}
	if !e.state.CompareAndSwap(drowsy, asleep) {
		<-e.token
		return nil
	}
	if e.net.asleep.Add(1) == int64(len(e.net.endpoints)) && e.riseFrom(asleep) {
		e.net.unstick(e)
		return e.verdict
	}
	select {
	case <-e.token:
	case <-ctx.Done():
		e.rise()
	}
	return e.verdict
}

// rise ends e's sleep, or takes the token if another rank has ended it.
func (e *Endpoint) rise() {
	if !e.riseFrom(drowsy) && !e.riseFrom(asleep) {
		<-e.token
	}
}

// riseFrom sets e back to awake if it is in that state.
func (e *Endpoint) riseFrom(state uint32) bool {
	if !e.state.CompareAndSwap(state, awake) {
		return false
	}
	if state == asleep {
		e.net.asleep.Add(-1)
	}
	return true
}

// wake wakes rank if it sleeps. It comes after what the rank is to see.
func (n *network) wake(rank int) {
	e := n.endpoints[rank]
	if e.state.Load() == awake {
		return
	}
	if e.riseFrom(drowsy) || e.riseFrom(asleep) {
		e.token <- struct{}{}
	}
}

// failure returns the reason to wait no longer, if there is one.
func (e *Endpoint) failure(ctx context.Context) error {
	if err := e.given(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return wire.Timeout(ctx, e.waiting())
	}
	for peer := range e.pending() {
		if e.net.endpoints[peer].closed.Load() {
			return &wire.PeerError{Rank: peer, Err: wire.ErrClosed}
		}
	}
	return nil
}

// Waiting returns the ranks, in ascending order, that the Exchange in progress has been waiting for for at least 10 ms,
// or that one was waiting for when it failed. The rank is woken, and sleeps again if it still has to.
func (e *Endpoint) Waiting() []int {
	if left := e.left.Load(); left != nil {
		return slices.Clone(*left)
	}
	if !e.riseFrom(asleep) {
		return nil
	}
	defer func() { e.token <- struct{}{} }() // until then nobody else touches what the rank waits for
	if time.Since(e.slept) < while {
		return nil
	}
	return e.waiting()
}

// waiting returns the ranks of all messages that are not complete, in ascending order.
func (e *Endpoint) waiting() []int {
	var ranks []int
	for peer := range e.pending() {
		ranks = append(ranks, peer)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// pending returns the messages of the Exchange in progress that are not complete: their ranks and calls.
func (e *Endpoint) pending() iter.Seq2[int, *wire.Call] {
	return func(yield func(int, *wire.Call) bool) {
		for i := range e.out {
			if m := &e.out[i]; !m.done && !yield(m.Peer, m.call.Call) {
				return
			}
		}
		for i := range e.in {
			if m := &e.in[i]; !m.done && !yield(m.Peer, m.call.Call) {
				return
			}
		}
	}
}
