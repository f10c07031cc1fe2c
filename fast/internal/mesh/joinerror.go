package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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

// blamed returns the error of a process that gave up, as the fault of those that it blames unless that is only self.
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

// noRoom returns err, which is for want of descriptors or memory, in words.
func noRoom(err error) error { return fmt.Errorf("this process cannot take connections: %w", err) }
