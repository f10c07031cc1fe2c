package fast

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/spec"
)

// Do carries out one call of k on c. dst and src are the rank's Out and In, nil where it passes none.
//
// What is wrong with the arguments is ErrInvalidArgument; if ctx has ended before, the error is a TimeoutError that
// waits for no rank. In both cases nothing was sent, the call does not count, and the communicator stays healthy.
func Do[T Elem](ctx context.Context, c *Comm, k *Collective, dst, src []T, args *Args, opts []Option) error {
	switch {
	case k == nil:
		return Refuse("Do", "the collective is nil")
	case args == nil:
		return Refuse(k.Name, "the arguments are nil")
	}
	err := c.do(ctx, k, spec.TypeOf[T](), args, bytesOf(dst), bytesOf(src), opts)
	if err != nil && len(opts) > 0 {
		c.refused(opts)
	}
	return err
}

// set is *args = *a word by word: a processor waits for what was stored so before it copies that in larger pieces.
func (args *Args) set(a *Args) {
	args.Count, args.Op, args.Root, args.Peer = a.Count, a.Op, a.Root, a.Peer
	args.AliasIn, args.AliasOut, args.NoAlias = a.AliasIn, a.AliasOut, a.NoAlias
}

// same is *args == *a, word by word for the same reason.
func (args *Args) same(a *Args) bool {
	return args.Count == a.Count && args.Op == a.Op && args.Root == a.Root && args.Peer == a.Peer &&
		args.AliasIn == a.AliasIn && args.AliasOut == a.AliasOut && args.NoAlias == a.NoAlias
}

// request is a call that is to be made.
type request struct {
	form
	dst, src []byte
	known    uint64 // the number of the form among those that were prepared without options; 0: it is none of them
}

// form is all of a call but its buffers. Calls repeat themselves, so that of the last one is kept in Comm.last: the
// same call again only brings its buffers.
type form struct {
	k     *Collective
	t     spec.Type
	args  Args
	fused fused
	// What prepare finds:
	a     *Algorithm
	depth int
}

// do makes the call, or has a handle, of an option, start it.
func (c *Comm) do(ctx context.Context, k *Collective, t spec.Type, args *Args, dst, src []byte, opts []Option) error {
	if err := c.enter(ctx, k.Name); err != nil {
		return err
	}
	defer c.exit()
	r := &c.last
	if r.known == 0 || len(opts) > 0 || r.k != k || r.t != t || !r.args.same(args) {
		r.known, r.k, r.t = 0, k, t
		r.args.set(args)
		r.fused = fusedOf(opts)
		if err := c.prepare(r, opts); err != nil {
			return err
		}
	}
	r.dst, r.src = dst, src
	if err := r.checkOverlap(); err != nil {
		return err
	}
	if h := handleOf(opts); h != nil {
		c.start(ctx, h, r)
		return nil
	}
	if err := c.drain(ctx, k.Name); err != nil {
		return err
	}
	return c.perform(ctx, r)
}

// exit lets other goroutines make calls.
func (c *Comm) exit() {
	c.last.dst, c.last.src = nil, nil // so that they can be collected
	c.busy.Unset()
}

// enter makes c this goroutine's, unless it is of no use.
func (c *Comm) enter(ctx context.Context, name string) error {
	switch {
	case c == nil:
		return Refuse(name, "the communicator is nil")
	case ctx == nil:
		return Refuse(name, "the context is nil")
	case c.size == 0:
		return Refuse(name, "the communicator was made by neither Run nor Init")
	case fork.Child():
		return c.refusedError(name, ErrForked)
	case !c.busy.Set():
		if c.closed.Load() {
			return c.refusedError(name, ErrClosed)
		}
		return c.refusedError(name, ErrConcurrentUse)
	case c.closed.Load() || c.termination.Load() != nil:
		c.busy.Unset()
		return c.unusableError(name)
	}
	return nil
}

// unusableError returns why no call can be made on c any more, if there is a reason.
func (c *Comm) unusableError(name string) error {
	if c.closed.Load() {
		return c.refusedError(name, ErrClosed)
	}
	f := c.termination.Load()
	if f == nil {
		return nil
	}
	c.flush()
	c.track.keepTrace(f.err)          // or waits for whoever writes it: the program may end because of this call
	if errors.Is(f.err, ErrAborted) { // says so
		return c.refusedError(name, f.err)
	}
	return c.refusedError(name, fmt.Errorf("%w: %w", ErrAborted, f.err))
}

// refusedError returns the error of a call that is not made, and so has no number: "Barrier on world, rank 1 of 4: …".
func (c *Comm) refusedError(name string, err error) error {
	return fmt.Errorf("%s on %v: %w", name, c, err)
}

// prepare checks the arguments, but not the buffers, and chooses the algorithm.
func (c *Comm) prepare(r *request, opts []Option) error {
	if err := c.check(r); err != nil {
		return err
	}
	var err error
	if r.a, r.depth, err = c.plan(r.k, r.args.Count, r.args.Count*r.t.Bytes(), r.args.Op, opts); err != nil {
		return err
	}
	if len(opts) == 0 {
		c.forms++
		r.known = c.forms
	}
	return nil
}

// perform makes a call that was prepared, when its turn has come.
func (c *Comm) perform(ctx context.Context, r *request) error {
	if ctx.Err() != nil {
		return c.contextError(ctx, r.k.Name)
	}
	defer c.leave()
	src := r.src
	if r.a.OutOfPlace && overlap(r.dst, src) {
		src = c.staged.need(len(src))
		copy(src, r.src)
	}
	made := c.counter(r)
	c.describe(r, *made+1)
	c.call.begin(r, src, *made+1)
	if events.On {
		c.call.followCall(c.mark)
	}
	err := r.a.Run(ctx, &c.call)
	if err == nil {
		err = c.call.conclude(ctx)
	}
	if err != nil {
		return c.failed(r, *made+1, err)
	}
	c.call.running = false
	c.track.end()
	if events.On {
		c.followCallEnd(nil)
	}
	*made++
	if !r.k.PointToPoint {
		c.series = c.series.Then(c.mark.Form)
	}
	return nil
}

// contextError returns the error of a call whose context has ended before it began.
func (c *Comm) contextError(ctx context.Context, name string) error {
	return c.refusedError(name, wire.Timeout(ctx, nil))
}

var errPanicked = errors.New("a call panicked")

// leave ends the call. One that has panicked leaves the communicator as unusable as one that failed.
func (c *Comm) leave() {
	if c.call.running {
		c.call.running = false
		c.call.record()
		c.fail(errPanicked)
		c.track.fail(errPanicked)
	}
	c.call.reset()
}

// failed returns the error of r, call number seq, which ended with err.
func (c *Comm) failed(r *request, seq uint64, err error) error {
	c.call.running = false
	if errors.Is(err, ErrInvalidArgument) && !c.call.begun { // by Layout
		c.call.unrecorded = false
		if events.On {
			c.followCallEnd(err)
		}
		return err
	}
	return c.callError(r, seq, c.conclude(r, seq, err))
}

// conclude gives c up because r, call number seq, ended with err, and returns the cause, which may be known better.
func (c *Comm) conclude(r *request, seq uint64, err error) error {
	failure := c.callError(r, seq, err)
	if cause := c.settle(failure); cause != error(failure) {
		failure = c.callError(r, seq, cause)
	}
	c.call.record()
	c.track.fail(failure)
	if events.On {
		c.followCallEnd(failure)
	}
	if !c.closed.Load() {
		c.track.keepTrace(failure)
	}
	return failure.Err
}

// check finds what is wrong with the arguments, whatever the buffers are.
func (c *Comm) check(r *request) error {
	k, args := r.k, &r.args
	bytes, root, peer := r.t.Bytes(), "root", "peer"
	if k.PointToPoint {
		root, peer = "the sender", "the receiver"
	}
	switch {
	case args.Count < 0 || args.Count > maxInt/bytes:
		return Refuse(k.Name, "a block of %d elements of %d bytes", args.Count, bytes)
	case k.Reduces && !args.Op.Valid():
		return Refuse(k.Name, "%v is none of the ops", args.Op)
	case k.Reduces && !args.Op.Takes(r.t):
		return Refuse(k.Name, "op %v is not defined on %v", args.Op, r.t)
	case args.Root < 0 || args.Root >= c.size:
		return Refuse(k.Name, "%s is %d, want a rank of %d", root, args.Root, c.size)
	case args.Peer < 0 || args.Peer >= c.size:
		return Refuse(k.Name, "%s is %d, want a rank of %d", peer, args.Peer, c.size)
	case k.PointToPoint && args.Root == args.Peer:
		return Refuse(k.Name, "rank %d cannot exchange messages with itself", args.Root)
	case k.PointToPoint && args.Root != c.rank && args.Peer != c.rank:
		return Refuse(k.Name, "rank %d takes no part in it", c.rank)
	}
	return nil
}

// checkOverlap finds what is wrong with buffers that share memory.
func (r *request) checkOverlap() error {
	switch {
	case !overlap(r.dst, r.src):
	case r.args.NoAlias:
		return Refuse(r.k.Name, "dst and src overlap")
	case !r.args.inPlace(r.dst, r.src, r.t.Bytes()):
		return Refuse(r.k.Name, "dst and src overlap, but src[%d] is not dst[%d]", r.args.AliasIn, r.args.AliasOut)
	}
	return nil
}

// overlap reports whether x and y have memory in common.
func overlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	a, b := address(x), address(y)
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}

// inPlace reports whether the buffers share memory in the way that is allowed.
func (args *Args) inPlace(dst, src []byte, elem int) bool {
	return !args.NoAlias && address(dst)+uintptr(args.AliasOut*elem) == address(src)+uintptr(args.AliasIn*elem)
}

func address(s []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// counter returns the number of calls that were made so far among the ranks of this one: all of them, or a sender and a
// receiver.
func (c *Comm) counter(r *request) *uint64 {
	if !r.k.PointToPoint {
		return &c.calls
	}
	if c.sent == nil {
		c.sent, c.received = make([]uint64, c.size), make([]uint64, c.size)
	}
	if c.rank == r.args.Root {
		return &c.sent[r.args.Peer]
	}
	return &c.received[r.args.Root]
}

// describe has c.desc say of r what the other ranks compare with theirs.
func (c *Comm) describe(r *request, seq uint64) {
	if r.known == 0 || r.known != c.describedForm { // most calls are like the one before
		if c.described != r.form {
			c.described, c.desc = r.form, r.describe()
			c.mark = wire.NewMark(&c.desc)
		}
		c.describedForm = r.known
	}
	var before uint32
	if !r.k.PointToPoint {
		before = c.series.Before()
	}
	c.mark.Renumber(seq, before)
}

// describe returns all that the other ranks compare with theirs, but the call's number.
func (p *form) describe() wire.Call {
	d := wire.Call{Primitive: p.k.Hash, Schedule: p.a.Hash, Count: uint64(p.args.Count), Type: uint32(p.t),
		Root: uint32(p.args.Root), Depth: uint32(p.depth),
		PrimitiveName: wire.NewLabel(p.k.Name), AlgorithmName: wire.NewLabel(p.a.Name)}
	if p.k.PointToPoint {
		d.Peer = uint32(p.args.Peer) + 1
	}
	if p.k.Reduces {
		d.Op = uint32(p.args.Op) | p.fused.mark()
	}
	if p.fused.n > 0 {
		d.PrimitiveName = p.fused.label()
	}
	return d
}

// begin prepares x for the algorithm of r, call number seq, whose input is src.
func (x *Call) begin(r *request, src []byte, seq uint64) {
	if r.known == 0 || r.known != x.known { // it is not like the call before
		x.take(r)
	}
	x.In.data, x.Out.data, x.seq = src, r.dst, seq
	x.begun, x.unrecorded, x.running = false, true, true
}

// take prepares x for calls of r's form.
func (x *Call) take(r *request) {
	x.Rank, x.Size, x.Root, x.Peer, x.Depth = x.c.rank, x.c.size, r.args.Root, r.args.Peer, r.depth
	x.known, x.k, x.a, x.count, x.op, x.elem = r.known, r.k, r.a, r.args.Count, r.args.Op, r.t
	x.kernel, x.many = nil, nil
	if r.k.Reduces {
		x.kernel, x.many = kernel.For(r.args.Op, r.t), kernel.ManyFor(r.args.Op, r.t)
	}
}
