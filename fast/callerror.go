package fast

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/wire"
)

// CallError is the error of a call that failed after it had begun. Why is Err, or what it wraps: a PeerError, a
// MismatchError, a DeadlockError, a TimeoutError, ErrClosed, ErrAborted or ErrRevoked.
type CallError struct {
	Comm       string // the communicator's name
	Rank, Size int    // this rank, and how many there are
	Seq        uint64 // the number of the call on the communicator, from 1; between two ranks for a point-to-point call; 0: it has none
	Op         string // the primitive: "AllReduce"
	Algorithm  string
	Peer       int   // the other rank of a point-to-point call; -1: all ranks take part
	Waiting    []int // the ranks that it was waiting for when it failed, in ascending order
	Err        error
}

// Error is in one line, such as "AllReduce, call 12 of world, rank 1 of 4: waiting for ranks [0 3]: rank 3: rank died".
func (e *CallError) Error() string {
	var with string
	if e.Peer >= 0 {
		with = fmt.Sprintf(" with rank %d", e.Peer)
	}
	var waiting string
	if _, expired := wire.Expired(e.Err); len(e.Waiting) > 0 && !expired { // which says it, too
		waiting = fmt.Sprintf("waiting for ranks %v: ", e.Waiting)
	}
	call := fmt.Sprintf(", call %d of", e.Seq)
	if e.Seq == 0 { // it was none
		call = " on"
	}
	return fmt.Sprintf("%s%s%s %s, rank %d of %d: %s%v", e.Op, with, call, e.Comm, e.Rank, e.Size, waiting, e.Err)
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// callError returns the error of r, call number seq, that failed with err.
func (c *Comm) callError(r *exec.Request, seq uint64, err error) *CallError {
	e := &CallError{Comm: c.name, Rank: c.rank, Size: c.size, Seq: seq, Op: r.Collective.Name, Algorithm: r.Algorithm.Name, Peer: -1, Err: err}
	if r.Collective.PointToPoint {
		e.Peer = r.Args.Root + r.Args.Peer - c.rank
	}
	if c.exec.Transport != nil {
		e.Waiting = c.exec.Transport.Waiting()
	}
	return e
}

// recordFailure has the flight recorder know that the calls in progress failed with err.
func (c *Comm) recordFailure(err error) {
	var waiting []int
	var call *CallError
	if errors.As(err, &call) {
		waiting = call.Waiting
	}
	c.track.Fail(err, waiting, c.atFault(err))
}

// atFault returns the ranks that err says are at fault: this one if it has ended the communicator itself.
func (c *Comm) atFault(err error) []int {
	var peer *PeerError
	var mismatch *MismatchError
	var deadlock *DeadlockError
	switch {
	case errors.As(err, &deadlock):
		return deadlock.Ranks
	case errors.As(err, &peer):
		return []int{peer.Rank}
	case errors.As(err, &mismatch):
		return []int{mismatch.Rank}
	case errors.Is(err, ErrAborted), errors.Is(err, ErrClosed), errors.Is(err, errPanicked):
		return []int{c.rank}
	}
	return nil
}
