package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Comm is one rank's end of a communicator.
type Comm struct {
	rank, size int
	transport  transport
	desc       wire.Call
	call       Call
}

// transport carries the messages of one rank. All methods but Abort and Close are called by one goroutine at a time.
type transport interface {
	// Begin says which call the following messages belong to. The description stays as it is until the next Begin.
	Begin(call *wire.Call)
	// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed.
	// Then nothing reads or writes their memory any more. It fails with *wire.PeerError, *wire.MismatchError,
	// *wire.TimeoutError, wire.ErrClosed after Close, or wire.ErrAborted after Abort.
	Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error
	// Abort gives up: every other rank that waits for this one, now or later, gets *wire.PeerError with wire.ErrAborted.
	// It may be called more than once, and while Exchange runs.
	Abort()
	// Close leaves: a rank that waits for this one later gets *wire.PeerError with wire.ErrClosed. It may be called more
	// than once, and while Exchange runs.
	Close() error
}

// newComm is rank's end of a communicator of size ranks that talk over t.
func newComm(rank, size int, t transport) *Comm {
	c := &Comm{rank: rank, size: size, transport: t}
	c.call.c = c
	return c
}

// Rank is this rank's number, 0 <= Rank() < Size(); 0 for a nil Comm.
func (c *Comm) Rank() int {
	if c == nil {
		return 0
	}
	return c.rank
}

// Size is the number of ranks; 1 for a nil Comm.
func (c *Comm) Size() int {
	if c == nil {
		return 1
	}
	return c.size
}
