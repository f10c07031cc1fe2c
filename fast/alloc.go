package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// buffers is the memory that Alloc has made for one rank of a communicator.
type buffers struct {
	mu     sync.Mutex
	made   uint64 // how often all ranks have called Alloc
	all    []allocation
	closed bool
}

type allocation struct {
	number uint64 // the same on all ranks
	*region
}

// Alloc returns memory for n elements, all of them 0, from which the other ranks of c on this host read what this rank
// sends on c: long messages, also of parts of it, are not copied on the way. On other communicators and hosts, and
// among goroutines, it is as good as any other memory. It lies in huge pages where the system has them.
//
// All ranks of c call it, in the order of their other calls; n may differ from rank to rank. It fails with
// ErrInvalidArgument if n is negative or no memory has so many elements, as a call of c does, or, without harm to c and
// on all ranks, if there is not enough memory on one of them.
//
// The garbage collector does not see the memory: it goes at Free or when c is closed, and must not be used after that.
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

// Free gives back memory that Alloc has made for c. All ranks of c call it, in the order of their other calls, and none
// waits for another; the memory is free when all of them have. It fails with ErrInvalidArgument if buf is not what
// Alloc has returned, all of it, with ErrConcurrentUse if a call of c is running, and with ErrClosed after Close, which
// frees everything.
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
	return c.free(exec.Bytes(buf))
}

// meetForAlloc is what Alloc begins with. It has a name of its own, so that no other call is taken for it.
var meetForAlloc = barrier.Within("Alloc")

// alloc returns n bytes of memory, which the other ranks map.
func (c *Comm) alloc(ctx context.Context, n int) ([]byte, error) {
	if err := do[uint8](ctx, c, &meetForAlloc, nil, nil, &exec.Args{}, nil); err != nil { // all ranks are here, and call nothing else
		return nil, err
	}
	a := allocation{number: c.buffers.next()}
	err := c.enter(ctx, "Alloc")
	if err == nil {
		defer c.busy.Unset()
		err = c.drain(ctx, "Alloc")
	}
	if err = c.expose(ctx, &a, n, err); err == nil {
		err = c.keep(a)
	}
	if err == nil {
		return a.Bytes, nil
	}
	if a.region != nil {
		c.release(a)
	}
	return nil, fmt.Errorf("Alloc: %w", c.allocError(err))
}

// allocError returns why Alloc has failed with err. That a rank is down is the end of c; another one may have said so
// in words, and the news itself be on its way.
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
		return c.termination.Load().err
	case <-time.After(failure.RootCauseWait):
	}
	if failure.Downs.Of(err) != "" { // of which another rank has heard: whose communicator is closed, this one may know as well
		all := make([]int, c.size)
		for rank := range all {
			all[rank] = rank
		}
		if here := c.unusable(all); here != nil {
			return here
		}
	}
	return err
}

// next returns the number of the next call of Alloc.
func (b *buffers) next() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made++
	return b.made
}

// expose makes a's region when all ranks make theirs, and has the ranks of each host map those of the others. It
// succeeds on all ranks or on none, apart from ranks that go down meanwhile. If err is why this rank cannot, the others
// learn of it.
func (c *Comm) expose(ctx context.Context, a *allocation, n int, err error) error {
	err = c.allDo(ctx, a.number, 0, err, func(context.Context, *setup.Group) (err error) {
		a.region, err = c.newRegion(n, a.number)
		return err
	})
	if err != nil {
		return err
	}
	return c.allDo(ctx, a.number, 1, nil, func(ctx context.Context, f *setup.Group) error { return c.exchangeFiles(ctx, f, a) })
}

// allDo has all ranks do one step of call number of Alloc, and learn whether all have: nil, or the error of this rank
// or of another one. If err is why this rank cannot, it does not.
func (c *Comm) allDo(ctx context.Context, number, step uint64, err error, do func(context.Context, *setup.Group) error) error {
	if c.world == nil {
		return do(ctx, nil)
	}
	f := &setup.Group{Plane: c.world.plane, ID: control.DeriveID(c.id, control.AllocSalt, number, step), Rank: c.rank, Members: make([]int, c.size)}
	if claimed := f.Plane.Claim(f.ID); claimed != nil {
		return claimed
	}
	defer f.Plane.Forget(f.ID)
	ranks := make([]int, c.size)
	for rank := range ranks {
		ranks[rank], f.Members[rank] = rank, c.process(rank)
	}
	ctx, stop := c.usable(ctx, ranks)
	defer stop()
	ctx, unwatch := f.Watched(ctx)
	defer unwatch()
	if err == nil {
		err = do(ctx, f)
	}
	return f.Decide(ctx, err)
}

// keep has the memory freed with c.
func (c *Comm) keep(a allocation) error {
	c.buffers.mu.Lock()
	defer c.buffers.mu.Unlock()
	if c.buffers.closed {
		return ErrClosed
	}
	c.buffers.all = append(c.buffers.all, a)
	c.know(a.Bytes)
	return nil
}

// free gives back the memory that is b.
func (c *Comm) free(b []byte) error {
	c.buffers.mu.Lock()
	defer c.buffers.mu.Unlock()
	if c.buffers.closed {
		return c.refusedError("Free", ErrClosed)
	}
	at := slices.IndexFunc(c.buffers.all, func(a allocation) bool { return exec.Address(a.Bytes) == exec.Address(b) && len(a.Bytes) == len(b) })
	if at < 0 {
		return wire.Refuse("Free", "%d bytes that are not what Alloc has returned for this communicator", len(b))
	}
	c.unknow(b)
	c.release(c.buffers.all[at])
	c.buffers.all = slices.Delete(c.buffers.all, at, at+1)
	return nil
}

// freeAll gives back all memory of c, which is closed. A call that runs in another goroutine may use it: it ends soon.
func (c *Comm) freeAll() {
	c.buffers.mu.Lock()
	all := c.buffers.all
	c.buffers.all, c.buffers.closed = nil, true
	c.buffers.mu.Unlock()
	if len(all) == 0 || c.freeIdle(all) {
		return
	}
	go func() {
		for !c.freeIdle(all) {
			time.Sleep(time.Millisecond)
		}
	}()
}

// freeIdle gives back memory of c unless a call is running.
func (c *Comm) freeIdle(all []allocation) bool {
	if !c.busy.Set() {
		return false
	}
	defer c.busy.Unset()
	for _, a := range all {
		c.unknow(a.Bytes)
		c.release(a)
	}
	return true
}

// know has c's transport know memory of Alloc.
func (c *Comm) know(memory []byte) {
	if k, ok := c.exec.Transport.(transport.Registrar); ok {
		k.Know(memory)
	}
}

// unknow is the opposite of know: the memory is about to go.
func (c *Comm) unknow(memory []byte) {
	if k, ok := c.exec.Transport.(transport.Registrar); ok {
		_ = k.Forget(memory)
	}
}
