package fast

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Do carries out one call of k on c. dst and src are the rank's Out and In, nil where it passes none.
//
// What is wrong with the arguments is ErrInvalidArgument; if ctx has ended before, the error is a TimeoutError that
// waits for no rank. In both cases nothing was sent, the call does not count, and the communicator stays healthy.
func Do[T Elem](ctx context.Context, c *Comm, k *Collective, dst, src []T, args Args, opts []Option) error {
	return c.do(ctx, k, bytesOf(dst), bytesOf(src), spec.TypeOf[T](), &args, opts)
}

func (c *Comm) do(ctx context.Context, k *Collective, dst, src []byte, t spec.Type, args *Args, opts []Option) error {
	if err := c.enter(ctx, k); err != nil {
		return err
	}
	defer c.leave()
	if err := c.check(k, dst, src, t, args); err != nil {
		return err
	}
	a, depth, err := k.plan(c.size, args.Count, args.Count*t.Bytes(), args.Op, opts)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", k.Name, &TimeoutError{Err: context.Cause(ctx)})
	}
	if a.OutOfPlace && overlap(dst, src) {
		staged := c.staged.need(len(src))
		copy(staged, src)
		src = staged
	}
	made := c.counter(k, args)
	c.describe(k, a, t, args, depth, *made+1)
	c.call.begin(k, dst, src, t, args, depth)
	if err := a.Run(ctx, &c.call); err != nil {
		return c.failed(k, err)
	}
	c.call.running = false
	c.call.announce()
	*made++
	return nil
}

// enter makes c this call's, unless it is of no use.
func (c *Comm) enter(ctx context.Context, k *Collective) error {
	switch {
	case c == nil:
		return Refuse(k.Name, "the communicator is nil")
	case ctx == nil:
		return Refuse(k.Name, "the context is nil")
	case c.size == 0:
		return Refuse(k.Name, "the communicator was made by neither Run nor Init")
	case c.closed.Load():
		return fmt.Errorf("%s: %w", k.Name, ErrClosed)
	case !c.busy.CompareAndSwap(false, true):
		return fmt.Errorf("%s: %w", k.Name, ErrConcurrentUse)
	}
	if f := c.fate.Load(); f != nil {
		c.busy.Store(false)
		return fmt.Errorf("%s: %w: %w", k.Name, ErrAborted, f.err)
	}
	return nil
}

// leave ends the call. One that has panicked leaves the communicator as unusable as one that failed.
func (c *Comm) leave() {
	if c.call.running {
		c.call.running = false
		c.fail(errors.New("a call panicked"))
	}
	c.call.reset()
	c.busy.Store(false)
}

// failed is the error of the call of k that ended with err.
func (c *Comm) failed(k *Collective, err error) error {
	c.call.running = false
	if errors.Is(err, ErrInvalidArgument) && !c.call.begun { // by Layout
		return err
	}
	return fmt.Errorf("%s: %w", k.Name, c.settle(err))
}

// check finds what is wrong with the arguments.
func (c *Comm) check(k *Collective, dst, src []byte, t spec.Type, args *Args) error {
	bytes, root, peer := t.Bytes(), "root", "peer"
	if k.PointToPoint {
		root, peer = "the sender", "the receiver"
	}
	switch {
	case args.Count < 0 || args.Count > maxInt/bytes:
		return Refuse(k.Name, "a block of %d elements of %d bytes", args.Count, bytes)
	case k.Reduces && !args.Op.Takes(t):
		return Refuse(k.Name, "op %v is not defined on %v", args.Op, t)
	case args.Root < 0 || args.Root >= c.size:
		return Refuse(k.Name, "%s is %d, want a rank of %d", root, args.Root, c.size)
	case args.Peer < 0 || args.Peer >= c.size:
		return Refuse(k.Name, "%s is %d, want a rank of %d", peer, args.Peer, c.size)
	case k.PointToPoint && args.Root == args.Peer:
		return Refuse(k.Name, "rank %d cannot exchange messages with itself", args.Root)
	case k.PointToPoint && args.Root != c.rank && args.Peer != c.rank:
		return Refuse(k.Name, "rank %d takes no part in it", c.rank)
	case overlap(dst, src) && args.NoAlias:
		return Refuse(k.Name, "dst and src overlap")
	case overlap(dst, src) && !args.inPlace(dst, src, bytes):
		return Refuse(k.Name, "dst and src overlap, but src[%d] is not dst[%d]", args.AliasIn, args.AliasOut)
	}
	return nil
}

// overlap tells whether x and y have memory in common.
func overlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	a, b := address(x), address(y)
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}

// inPlace tells whether the buffers share memory in the way that is allowed.
func (args *Args) inPlace(dst, src []byte, elem int) bool {
	return !args.NoAlias && address(dst)+uintptr(args.AliasOut*elem) == address(src)+uintptr(args.AliasIn*elem)
}

func address(s []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// counter is the number of calls that were made so far among the ranks of this one: all of them, or a sender and a
// receiver.
func (c *Comm) counter(k *Collective, args *Args) *uint64 {
	if !k.PointToPoint {
		return &c.calls
	}
	if c.sent == nil {
		c.sent, c.received = make([]uint64, c.size), make([]uint64, c.size)
	}
	if c.rank == args.Root {
		return &c.sent[args.Peer]
	}
	return &c.received[args.Root]
}

// describe fills in what the other ranks compare with theirs.
func (c *Comm) describe(k *Collective, a *Algorithm, t spec.Type, args *Args, depth int, seq uint64) {
	d := &c.desc
	d.Seq, d.Primitive, d.Schedule, d.Count = seq, k.Hash, a.Hash, uint64(args.Count)
	d.Type, d.Root, d.Depth, d.Op, d.Peer = uint32(t), uint32(args.Root), uint32(depth), 0, 0
	if k.PointToPoint {
		d.Peer = uint32(args.Peer) + 1
	}
	if k.Reduces {
		d.Op = uint32(args.Op)
	}
	d.PrimitiveName, d.AlgorithmName = wire.NewLabel(k.Name), wire.NewLabel(a.Name)
}

// begin prepares x for the algorithm.
func (x *Call) begin(k *Collective, dst, src []byte, t spec.Type, args *Args, depth int) {
	x.Rank, x.Size, x.Root, x.Peer, x.Depth = x.c.rank, x.c.size, args.Root, args.Peer, depth
	x.In.data, x.Out.data = src, dst
	x.name, x.count, x.op, x.elem = k.Name, args.Count, args.Op, t
	x.kernel = nil
	if k.Reduces {
		x.kernel = kernel.For(args.Op, t)
	}
	x.begun, x.running = false, true
}
