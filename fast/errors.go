package fast

import (
	"errors"

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
	// ErrFrozen: a rank has not answered for so long that it is taken for dead.
	ErrFrozen = wire.ErrFrozen
	// ErrFenced: the other ranks take this one for dead, and go on without it.
	ErrFenced = wire.ErrFenced
	// ErrNoQuorum: fewer ranks are left than the caller of Shrink wants to go on with.
	ErrNoQuorum = wire.ErrNoQuorum
	// ErrForked: the process was forked off from a rank's, with whose memory and sockets it would disturb the job, and has not executed
	// another program. It is known on Linux from 4.14 on.
	ErrForked = errors.New("a process that was forked off from a rank's is no rank")
	// ErrTicket: what Join was given is no ticket, or one of another job.
	ErrTicket = mesh.ErrTicket
	// ErrTicketUsed: another process has joined with the same ticket.
	ErrTicketUsed = mesh.ErrTicketUsed
)

// The errors that name ranks, to be told apart with errors.As.
type (
	// PeerError says that another rank failed: it died (ErrDied), does not answer (ErrFrozen), closed its
	// communicator (ErrClosed), or gave up after a failure of its own (ErrAborted).
	PeerError = wire.PeerError
	// MismatchError says that another rank made a different call at this point, and in which field the two differ.
	MismatchError = wire.MismatchError
	// TimeoutError says that the context of a call ended first, and which ranks the call was waiting for. It is also
	// the context's error, context.DeadlineExceeded or context.Canceled, and its cause, if that is another one.
	TimeoutError = wire.TimeoutError
)
