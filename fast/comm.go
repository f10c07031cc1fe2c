package fast

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Comm is one rank's end of a communicator: a fixed set of ranks that make the same calls in the same order.
//
// One call at a time runs on a Comm; a second one, from another goroutine, gets ErrConcurrentUse. After a call that
// failed the communicator is given up, on all ranks, because the calls to come would not match: every later call gets
// an error that is ErrAborted. Refused calls, those with ErrInvalidArgument and ErrConcurrentUse, or whose context had
// ended before they began, do no harm.
//
// A Comm keeps the scratch memory of its calls, up to the most that one call has needed, for those that follow. A call
// whose algorithm would need more than 16 GiB of it is refused.
type Comm struct {
	rank, size int
	transport  transport // nil if this is the only rank

	closed atomic.Bool
	busy   atomic.Bool // guards what follows
	err    error       // the first failure
	desc   wire.Call
	call   Call
	calls  uint64 // made so far by all ranks together
	// Point-to-point calls made so far with each rank; nil before the first.
	sent, received         []uint64
	scratch, staged, spare memory
}

// transport carries the messages of one rank. Only Abort and Close may be called while another method runs.
type transport interface {
	// Begin says which call the following messages belong to. The description stays as it is until the next Begin.
	Begin(call *wire.Call)
	// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed.
	// Then nothing reads or writes their memory any more. It fails with *wire.PeerError, *wire.MismatchError,
	// *wire.TimeoutError, wire.ErrClosed after Close, or wire.ErrAborted after Abort. It is not called again after it
	// failed.
	Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error
	// Abort gives up: every other rank that waits, now or later, gets *wire.PeerError with this rank and
	// wire.ErrAborted. It may be called more than once.
	Abort()
	// Close leaves: a rank that waits for this one later gets *wire.PeerError with wire.ErrClosed.
	Close() error
}

// newComm is rank's end of a communicator of size ranks that talk over t.
func newComm(rank, size int, t transport) *Comm {
	c := &Comm{rank: rank, size: size, transport: t}
	x := &c.call
	x.c, x.In.cuts, x.Out.cuts, x.Scratch.cuts = c, &x.cuts, &x.cuts, &x.cuts
	return c
}

// Rank is this rank's number, 0 <= Rank() < Size(). It is 0 for a nil Comm.
func (c *Comm) Rank() int {
	if c == nil {
		return 0
	}
	return c.rank
}

// Size is the number of ranks, at least 1. It is 1 for a nil Comm, and for one that nobody made.
func (c *Comm) Size() int {
	if c == nil {
		return 1
	}
	return max(1, c.size)
}

// String is the rank and the size, for messages: "rank 2 of 4".
func (c *Comm) String() string { return fmt.Sprintf("rank %d of %d", c.Rank(), c.Size()) }

// Close leaves the communicator. A call that runs on it returns ErrClosed, as every later one does; on other ranks, a
// call that waits for this rank gets a PeerError with ErrClosed. Close does not wait for other ranks, and closing again
// does nothing.
func (c *Comm) Close() error {
	if c == nil || c.closed.Swap(true) || c.transport == nil {
		return nil
	}
	return c.transport.Close()
}

// fail gives the communicator up because of err.
func (c *Comm) fail(err error) {
	c.err = err
	if c.transport != nil && !c.closed.Load() {
		c.transport.Abort()
	}
}
