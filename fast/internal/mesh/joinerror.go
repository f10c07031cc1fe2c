package mesh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// When one process dies or stays away, the others give up one after the other. A process that joins therefore hears of
// several ends, in any order, of which one is the cause. It waits a moment for what others say, and takes what they
// agree on best.

// reasons are those to fail that a process knows, in the order in which it came to know them.
type reasons struct {
	mu  sync.Mutex
	all []reason
}

// reason is one of them, and whose fault it is: a process's, or one of those below.
type reason struct {
	err    error
	weight weight
	fault  int
}

const (
	faultAbsent = -1 - iota // of some that have not come
	faultOther
)

// weight tells how much a reason explains.
type weight int

const (
	weak    weight = 1   // it may be a consequence of another one
	strong  weight = 2   // a process has died before this one's eyes, or says why it has given up
	certain weight = 100 // nothing else need be known
)

// hearsay is how long a process that has a reason to fail waits for others.
const hearsay = 100 * time.Millisecond

var (
	// errGone: a process has published its card, and was not there any more.
	errGone = fmt.Errorf("%w: it does not listen any more", wire.ErrDied)
	// errUnmet: the other end of a connection that another process has made is closed. It may be that one which has
	// died.
	errUnmet = fmt.Errorf("%w: it was not heard of before the connection to it was closed", wire.ErrDied)
)

// report takes a reason to fail.
func (j *joining) report(err error, w weight) {
	if j.work.Err() != nil {
		return // joining has ended, and everything with it
	}
	fault, err := faultOf(err, j.me.Process)
	j.reasons.mu.Lock()
	j.reasons.all = append(j.reasons.all, reason{err, w, fault})
	j.reasons.mu.Unlock()
	j.doubting(err)
}

// faultOf returns whose fault err is. What another process said when it gave up counts, as the fault of whom it blames.
func faultOf(err error, self int) (fault int, cause error) {
	var gave *gaveUp
	var peer *wire.PeerError
	if errors.As(err, &peer) && errors.As(err, &gave) {
		err = gave.blamed(peer, self)
	}
	var absent *wire.TimeoutError
	switch {
	case errors.As(err, &absent):
		return faultAbsent, err
	case errors.As(err, &peer):
		return peer.Rank, err
	}
	return faultOther, err
}

// fell reports that a process is down. One that has closed its mesh had joined, and so will this one.
func (j *joining) fell(process int, err error) {
	switch {
	case errors.Is(err, wire.ErrClosed):
	case process == j.me.Process:
		j.report(err, certain)
	case errors.Is(err, wire.ErrFenced):
		j.report(&wire.PeerError{Rank: process, Err: err}, certain)
	case errors.Is(err, wire.ErrExhausted):
		j.report(noRoom(err), certain)
	case errors.Is(err, errGone), errors.Is(err, errUnmet):
		j.report(&wire.PeerError{Rank: process, Err: err}, weak)
	default:
		j.report(&wire.PeerError{Rank: process, Err: err}, strong)
	}
}

// late sees to it that there is a reason if joining fails with err, which is that ctx has ended if there is none yet.
func (j *joining) late(err error, waiting []int) error {
	if err != nil && j.doubt.Err() == nil {
		if ctx := j.ctx; ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = &wire.TimeoutError{Waiting: waiting, Err: wire.EndedBy(ctx, err)}
		}
		j.report(err, weak)
	}
	return err
}

// joinError returns why joining has failed, all in all.
func (j *joining) joinError() error {
	if w, _ := j.reasons.best(); w < certain {
		time.Sleep(hearsay)
		if j.me.Process != 0 { // which may have the store: then it alone knows who was sent away there, and says so now
			time.Sleep(hearsay)
		}
	}
	_, err := j.reasons.best()
	var absent *wire.TimeoutError
	if errors.As(err, &absent) {
		return j.withRefusals(err)
	}
	return err
}

// best returns the best reason of the fault for which most speaks, and how much does so; of equals the first. Weak
// reasons count as one, because each of many things that a process tries may fail for the same cause.
func (r *reasons) best() (most weight, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.all {
		if top, sum := r.of(x.fault); sum > most {
			most, err = sum, top.err
		}
	}
	return most, err
}

// of returns the first of the best reasons of a fault, and how much speaks for it.
func (r *reasons) of(fault int) (top reason, sum weight) {
	for _, x := range r.all {
		if x.fault != fault {
			continue
		}
		if x.weight > weak {
			sum += x.weight
		}
		if x.weight > top.weight {
			top = x
		}
	}
	return top, max(sum, weak)
}
