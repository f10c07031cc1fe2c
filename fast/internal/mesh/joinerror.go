package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// When one process dies or does not come, the others give up one after the other. So a process that joins learns of
// several failures in any order, one of which is the root cause. It waits a moment for what others report, and chooses
// the failure for which most reports speak.

// reasons are the reasons to fail that a process knows, in the order in which it learned of them.
type reasons struct {
	mu  sync.Mutex
	all []reason
}

// reason is a reason to fail. Its fault is the process at fault, or one of the constants below.
type reason struct {
	err    error
	weight weight
	fault  int
}

const (
	faultAbsent = -1 - iota // processes that have not come
	faultOther
)

// weight is how much a reason explains.
type weight int

const (
	weak    weight = 1   // it may be a consequence of another reason
	strong  weight = 2   // this process saw another one die, or a process says why it has given up
	certain weight = 100 // no other reason can be better
)

// faultOf returns which process is at fault for err. If another process has given up, that is one it blames.
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

// blamed returns the error of a process that gave up, with the processes that it blames other than self, if any.
func (e *gaveUp) blamed(by *wire.PeerError, self int) error {
	blamed := slices.DeleteFunc(slices.Clone(e.ranks), func(r int) bool { return r == self })
	switch {
	case len(blamed) > 0 && e.blame == blameAbsent:
		err := fmt.Errorf("%w on rank %d, which gave up: %s", context.DeadlineExceeded, by.Rank, e.text)
		return &wire.TimeoutError{Waiting: blamed, Err: err}
	case len(blamed) > 0 && e.blame == blameDead:
		return &wire.PeerError{Rank: blamed[0], Err: fmt.Errorf("%w, says rank %d", wire.ErrDied, by.Rank)}
	}
	return by
}

// best returns the best reason of the fault with the greatest total weight, and that weight; of equals the first. Weak
// reasons count as one, because many attempts may fail for the same cause.
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

// of returns the first of the best reasons of a fault, and its total weight.
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

// noRoom returns the error of a process that lacks descriptors or memory, because of err.
func noRoom(err error) error { return fmt.Errorf("this process cannot take connections: %w", err) }
