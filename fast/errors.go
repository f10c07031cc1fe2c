package fast

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// The errors of a call, to be told apart with errors.Is.
var (
	// ErrClosed: the communicator was closed on this rank.
	ErrClosed = wire.ErrClosed
	// ErrAborted: the communicator was given up, here or by another rank, after an earlier failure. On the rank of the
	// failure the error of every later call wraps the first cause too.
	ErrAborted = wire.ErrAborted
	// ErrInvalidArgument: the call was refused before anything was sent, and the communicator stays healthy.
	ErrInvalidArgument = wire.ErrInvalidArgument
	// ErrConcurrentUse: another goroutine is in a call on the same communicator. The refused call did nothing, and the
	// other one is not disturbed.
	ErrConcurrentUse = wire.ErrConcurrentUse
	// ErrRevoked: a rank has revoked the communicator for all.
	ErrRevoked = wire.ErrRevoked
	// ErrDied: a rank's process ended, or its link broke, without Close.
	ErrDied = wire.ErrDied
	// ErrFrozen: a rank has not answered for so long that it is taken for dead. It is silent for longer than the
	// heartbeat timeout, the network to it is cut, or it leaves control messages unread; the text says which.
	ErrFrozen = wire.ErrFrozen
	// ErrFenced: the other ranks take this one for dead, and go on without it.
	ErrFenced = wire.ErrFenced
	// ErrExhausted: a rank's process, this one or that of a PeerError, has no descriptors or memory left for a
	// connection.
	ErrExhausted = wire.ErrExhausted
	// ErrNoQuorum: fewer ranks are left than the caller of Shrink wants to go on with.
	ErrNoQuorum = wire.ErrNoQuorum
	// ErrForked: the process was forked off from a rank's, with whose memory and sockets it would disturb the job, and
	// has not executed another program. Calls that use its communicators fail with it, on Linux from 4.14 on; elsewhere
	// it is not found out.
	ErrForked = errors.New("a process that was forked off from a rank's is no rank")
	// ErrDeadlock: ranks wait for each other in a ring, so that none of them ever goes on.
	ErrDeadlock = wire.ErrDeadlock
	// ErrTicket: what Join was given is no ticket, or one of another job.
	ErrTicket = mesh.ErrTicket
	// ErrTicketUsed: another process has joined with the same ticket.
	ErrTicketUsed = mesh.ErrTicketUsed
)

// The errors that name ranks, to be told apart with errors.As.
type (
	// PeerError says that another rank failed: it died (ErrDied), does not answer (ErrFrozen), closed its communicator
	// (ErrClosed), has no room for a connection (ErrExhausted), or gave up after a failure of its own (ErrAborted).
	// That failure, if it was a MismatchError, a DeadlockError or a TimeoutError, is in Err as that rank sees it.
	//
	//	type PeerError struct {
	//		Rank int
	//		Err  error
	//	}
	PeerError = wire.PeerError
	// MismatchError says that another rank made a different call at this point, and in which field the two differ. Mine
	// and Theirs are the values of that field in words. If the two calls have different numbers, one of the ranks was
	// done with a call that the other one is still in. The field "earlier calls" says that they differ in a call
	// before, too long ago to be known. Call is this rank's call with its label, if it has one and that is not what
	// differs.
	//
	//	type MismatchError struct {
	//		Rank          int
	//		Seq, TheirSeq uint64
	//		Field         string
	//		Mine, Theirs  string
	//		Call          string
	//	}
	MismatchError = wire.MismatchError
	// DeadlockError says that ranks wait for each other in sends and receives that none of the others will ever match:
	// each for the next one, and the last for the first. It is ErrDeadlock. A ring in which one rank is in another
	// collective call than the next, or in one while the next sends or receives, is a MismatchError instead.
	//
	// Not found are rings of more than 128 ranks, through several communicators, and through a rank that has more than
	// 256 sends and receives in progress together: those calls end with their context.
	//
	//	type DeadlockError struct {
	//		Ranks []int
	//		Sends []bool
	//	}
	DeadlockError = wire.DeadlockError
	// TimeoutError says that the context of a call ended first, and which ranks the call was waiting for. It is also
	// the context's error, context.DeadlineExceeded or context.Canceled, and its cause, if that is another one.
	//
	//	type TimeoutError struct {
	//		Waiting []int
	//		Err     error
	//	}
	TimeoutError = wire.TimeoutError
)

// CallError is the error of a call that failed after it had begun. Why is Err, or what it wraps: a PeerError, a
// MismatchError, a DeadlockError, a TimeoutError, ErrClosed, ErrAborted or ErrRevoked.
type CallError struct {
	Comm       string // the communicator's name
	Rank, Size int    // this rank, and how many there are
	// the number of the call on the communicator, from 1; between two ranks for a point-to-point call; 0: it has none
	Seq       uint64
	Op        string // the primitive: "AllReduce"
	Label     string // of WithLabel; of a Bucket's call, the first and the last one; "": none
	Algorithm string
	Peer      int   // the other rank of a point-to-point call; -1: all ranks take part
	Waiting   []int // the ranks that it was waiting for when it failed, in ascending order
	Err       error
}

// Error is in one line, such as "AllReduce, call 12 of world, rank 1 of 4: waiting for ranks [0 3]: rank 3: rank died".
func (e *CallError) Error() string {
	var with string
	if e.Label != "" {
		with = fmt.Sprintf(" %q", e.Label)
	}
	if e.Peer >= 0 {
		with += fmt.Sprintf(" with rank %d", e.Peer)
	}
	var waiting string
	if _, expired := wire.Expired(e.Err); len(e.Waiting) > 0 && !expired { // which says it, too
		waiting = fmt.Sprintf("waiting for ranks %v: ", wire.Listed(e.Waiting))
	}
	call := fmt.Sprintf(", call %d of", e.Seq)
	if e.Seq == 0 { // it was none
		call = " on"
	}
	return fmt.Sprintf("%s%s%s %s, rank %d of %d: %s%v", e.Op, with, call, e.Comm, e.Rank, e.Size, waiting, e.Err)
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// Culprits returns the ranks that err blames, in ascending order: those of its PeerErrors, MismatchErrors and
// DeadlockErrors. A rank that gave up is not blamed if its own error blames ranks. If that error is a MismatchError,
// though, both sides of it are blamed, because another rank cannot know which of them is wrong. A TimeoutError blames
// nobody, since it only names ranks that were waited for. Nor is a rank blamed that gave up because its deadline
// passed.
func Culprits(err error) []int { return failure.Culprits(err) }
