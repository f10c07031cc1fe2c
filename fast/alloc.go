package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/memory"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Alloc returns memory for n elements, all of them 0. The other ranks of c on this host read directly from it what this
// rank sends on c: long messages, of all or part of it, are not copied on the way. On other communicators and hosts,
// and among goroutines, it is ordinary memory. It lies in huge pages if the system has them.
//
// All ranks of c call Alloc, in the order of their other calls; n may differ from rank to rank. It fails with
// ErrInvalidArgument if n is negative or no memory has so many elements; as a call of c does; or, on all ranks and with
// c as before, if one of them has not enough memory.
//
// The garbage collector does not see the memory. It is freed by Free or when c is closed, and must not be used after
// that.
func Alloc[T Elem](ctx context.Context, c *Comm, n int) ([]T, error) {
	var elem T
	size := int(unsafe.Sizeof(elem))
	if n < 0 || n > math.MaxInt/size {
		return nil, wire.Refuse("Alloc", "%d elements of %d bytes", n, size)
	}
	b, err := c.alloc(ctx, n*size)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// Free frees memory that Alloc has returned for c. All ranks of c call it, in the order of their other calls, and none
// waits for another; the memory is free when all have called it. Free fails with ErrInvalidArgument if buf is not all
// of what Alloc has returned, with ErrConcurrentUse if a call of c is running or a message of c uses buf, and with
// ErrClosed after Close, which frees everything.
func Free[T Elem](c *Comm, buf []T) error {
	if c == nil || c.size == 0 {
		return wire.Refuse("Free", "the communicator is nil or was made by neither Run nor Init")
	}
	if fork.Child() {
		return c.refusedError("Free", ErrForked)
	}
	if !c.busy.Set() {
		return c.refusedError("Free", ErrConcurrentUse)
	}
	defer c.busy.Unset()
	if q := c.queue.Load(); q != nil && q.pending.Load() > 0 {
		return c.refusedError("Free", fmt.Errorf("%w: calls that were started are not over", ErrConcurrentUse))
	}
	b := exec.Bytes(buf)
	if c.messages.Uses(func(x []byte) bool { return exec.Overlap(x, b) }) {
		return c.refusedError("Free", fmt.Errorf("%w: a message is sent from it, or received into it", ErrConcurrentUse))
	}
	switch err := c.memory.Free(b); err {
	case memory.ErrUnknown:
		return wire.Refuse("Free", "%d bytes that are not what Alloc has returned for this communicator", len(b))
	case nil:
		return nil
	default:
		return c.refusedError("Free", err)
	}
}

// meetForAlloc is the barrier that Alloc begins with. Its name keeps it from matching any other call.
var meetForAlloc = barrier.Within("Alloc")

// alloc returns n bytes of memory that the other ranks map.
func (c *Comm) alloc(ctx context.Context, n int) ([]byte, error) {
	// After the barrier all ranks are here, and in no other call.
	if err := do[uint8](ctx, c, &meetForAlloc, nil, nil, &exec.Args{}, nil); err != nil {
		return nil, err
	}
	number := c.memory.Next()
	err := c.enter(ctx, "Alloc")
	if err == nil {
		defer c.busy.Unset()
		err = c.drain(ctx, "Alloc")
	}
	together := func(ctx context.Context, step uint64, err error, do setupStep) error {
		return c.allDo(ctx, number, step, err, do)
	}
	b, err := c.memory.Alloc(ctx, number, n, err, together)
	if err != nil {
		return nil, fmt.Errorf("Alloc: %w", c.allocError(err))
	}
	return b, nil
}

// setupStep is what one rank does in a step of an Alloc.
type setupStep = func(context.Context, *setup.Group) error

// allDo has all ranks do a step of an Alloc. It returns nil if all have done it, or the error of one of them, such as
// err, with which this rank does not do the step.
func (c *Comm) allDo(ctx context.Context, number, step uint64, err error, do setupStep) error {
	if c.world == nil {
		return do(ctx, nil)
	}
	id := control.DeriveID(c.id, control.AllocSalt, number, step)
	g := &setup.Group{Plane: c.world.plane, ID: id, Rank: c.rank, Members: c.processes()}
	if claimed := g.Plane.Claim(g.ID); claimed != nil {
		return claimed
	}
	defer g.Plane.Forget(g.ID)
	ctx, stop := c.usable(ctx, c.ranks())
	defer stop()
	ctx, unwatch := g.Watched(ctx)
	defer unwatch()
	if err == nil {
		err = do(ctx, g)
	}
	return g.Decide(ctx, err)
}

// allocError returns why Alloc has failed with err. If a rank is down, c is given up. Another rank may have said so in
// words while the notice of it is still on its way.
func (c *Comm) allocError(err error) error {
	var inner *wire.Inner
	if errors.As(err, new(*TimeoutError)) && !errors.As(err, &inner) {
		return err
	}
	if _, ok := failure.Within[*PeerError](err); ok {
		return c.settle(err)
	}
	select {
	case <-c.ended:
		c.flush()
		return c.termination.Load().Err
	case <-time.After(failure.RootCauseWait):
	}
	if failure.Downs.Of(err) != "" { // another rank has said so; this one may know as well which rank has closed c
		if here := c.unusable(c.ranks()); here != nil {
			return here
		}
	}
	return err
}
