package fast

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// What follows is for generated code: that of this package calls it, and that of others through package collective.
// Package hosts uses it too.

func init() { exec.Runtime = forGenerated{} }

// forGenerated is what this package does for package collective, which takes care that its communicators and handles
// are those of this package.
type forGenerated struct{}

func (forGenerated) Do(ctx context.Context, c any, k *exec.Collective, t spec.Type, args *exec.Args, dst, src []byte,
	blocks *exec.BlocksOf, opts []exec.Option) error {
	return c.(*Comm).doGenerated(ctx, k, t, args, dst, src, blocks, opts)
}

func (forGenerated) Start(opts []exec.Option, call func(opts []exec.Option) error) any {
	return start(opts, call)
}

func (forGenerated) Made(c any) uint64 { return c.(*Comm).exec.Calls }

func (forGenerated) Ended(c any) <-chan struct{} { return c.(*Comm).ended }

func (forGenerated) Fail(c any, err error) {
	d := c.(*Comm)
	d.giveUp(Failed, err, 0)
	d.flush()
}

// do carries out one call of k on c, as collective.Do does.
func do[T Elem](ctx context.Context, c *Comm, k *exec.Collective, dst, src []T, args *exec.Args, opts []Option) error {
	return c.doGenerated(ctx, k, spec.TypeOf[T](), args, exec.Bytes(dst), exec.Bytes(src), nil, opts)
}

// blockOf returns one of the blocks of buf, for a call in place.
func blockOf[T Elem](primitive string, buf []T, blocks Blocks, block int) ([]T, error) {
	return exec.BlockOf(primitive, buf, blocks, block)
}

// doGenerated carries out one call of k. Blocks is nil if they are equally long.
func (c *Comm) doGenerated(ctx context.Context, k *exec.Collective, t spec.Type, args *exec.Args, dst, src []byte,
	blocks *exec.BlocksOf, opts []Option) error {
	switch {
	case k == nil:
		return refuse("Do", "the collective is nil")
	case args == nil:
		return refuse(k.Name, "the arguments are nil")
	case len(opts) > 0:
		return c.doWithOptions(ctx, k, t, args, dst, src, blocks, opts)
	}
	if err := c.enter(ctx, k.Name); err != nil {
		return err
	}
	defer c.exit()
	r, err := c.exec.Request(k, t, args, dst, src, blocks, nil)
	switch {
	case err != nil:
		return err
	case c.hasStarted():
		return c.inTurn(ctx, r)
	}
	return c.perform(ctx, r)
}

// doWithOptions is doGenerated for a call with options. It remembers one that was to be started and is refused.
func (c *Comm) doWithOptions(ctx context.Context, k *exec.Collective, t spec.Type, args *exec.Args, dst, src []byte,
	blocks *exec.BlocksOf, opts []Option) error {
	err := c.request(ctx, k, t, args, dst, src, blocks, opts)
	if err != nil {
		c.refused(opts)
		if exec.Continues(opts) {
			c.breakOff(err)
		}
	}
	return err
}

// breakOff gives c up because of err, for which this rank does not go on with calls that the others make.
func (c *Comm) breakOff(err error) {
	if c != nil && c.size > 0 && !errors.Is(err, ErrForked) {
		c.giveUp(Failed, err, 0)
		c.flush()
	}
}

// start has call start what it calls by passing opts on to do.
func start(opts []Option, call func(opts []Option) error) *Handle {
	h := &Handle{isCall: true}
	err := call(append(opts[:len(opts):len(opts)], Option{Kind: exec.StartOption, Handle: h}))
	if err != nil || h.queue == nil {
		h.finish(err)
	}
	return h
}

// refuse returns the error of a call of primitive with a bad argument. It wraps ErrInvalidArgument.
func refuse(primitive, format string, args ...any) error {
	return wire.Refuse(primitive, format, args...)
}

// request makes the call, or has what an option brings along prepare or start it.
func (c *Comm) request(ctx context.Context, k *exec.Collective, t spec.Type, args *exec.Args, dst, src []byte,
	blocks *exec.BlocksOf, opts []Option) error {
	if err := c.enter(ctx, k.Name); err != nil {
		return err
	}
	defer c.exit()
	r, err := c.exec.Request(k, t, args, dst, src, blocks, opts)
	if err != nil {
		return err
	}
	if done, err := c.prepare(r, opts); done {
		return err
	}
	if h := handleOf(opts); h != nil {
		c.start(ctx, h, r)
		return nil
	}
	return c.inTurn(ctx, r)
}

// inTurn makes a call that was prepared, after those that were started.
func (c *Comm) inTurn(ctx context.Context, r *exec.Request) error {
	if c.hasStarted() {
		if r.Collective.PointToPoint && c.hasOpen() {
			return c.besideOpen(ctx, r)
		}
		if err := c.drain(ctx, r.Collective.Name); err != nil {
			return err
		}
	}
	return c.perform(ctx, r)
}

// exit lets other goroutines make calls.
func (c *Comm) exit() {
	c.exec.ForgetBuffers()
	c.busy.Unset()
}

// enter makes c this goroutine's, unless it is of no use.
func (c *Comm) enter(ctx context.Context, name string) error {
	switch {
	case c == nil:
		return wire.Refuse(name, "the communicator is nil")
	case ctx == nil:
		return wire.Refuse(name, "the context is nil")
	case c.size == 0:
		return wire.Refuse(name, "the communicator was made by neither Run nor Init")
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
	c.track.Save(f.Err)               // or waits for whoever writes it: the program may end because of this call
	if errors.Is(f.Err, ErrAborted) { // says so
		return c.refusedError(name, f.Err)
	}
	return c.refusedError(name, fmt.Errorf("%w: %w", ErrAborted, f.Err))
}

// perform makes a call that was prepared, when its turn has come.
func (c *Comm) perform(ctx context.Context, r *exec.Request) error {
	if ctx.Err() != nil {
		return c.contextError(ctx, r.Collective.Name)
	}
	defer c.leave()
	if seq, err := c.exec.Run(ctx, r); err != nil {
		return c.failed(r, seq, err)
	}
	return nil
}

// together makes the point-to-point calls that were enlisted. Its error is the cause alone, which is the same for all
// of them.
func (c *Comm) together(ctx context.Context) error {
	defer c.leave()
	if seq, err := c.exec.RunTogether(ctx); err != nil {
		return c.conclude(&c.exec.Group[0], seq, err)
	}
	return nil
}

// leave ends the call. One that has panicked leaves the communicator as unusable as one that failed.
func (c *Comm) leave() {
	if c.exec.Interrupted() {
		c.fail(errPanicked)
		c.recordFailure(errPanicked)
	}
	c.exec.Reset()
}

// failed returns the error of r, call number seq, which ended with err.
func (c *Comm) failed(r *exec.Request, seq uint64, err error) error {
	if c.exec.Withdrawn(err) { // by Layout
		c.exec.EventLog.End(c.ending(err))
		return err
	}
	return c.callError(r, seq, c.conclude(r, seq, err))
}

// conclude gives c up because r, call number seq, ended with err, and returns the cause, which may be known better.
func (c *Comm) conclude(r *exec.Request, seq uint64, err error) error {
	failure := c.callError(r, seq, err)
	if cause := c.settle(failure); cause != error(failure) {
		failure = c.callError(r, seq, cause)
	}
	c.exec.RecordCall()
	c.recordFailure(failure)
	c.exec.EventLog.End(c.ending(failure))
	if !c.closed.Load() {
		c.track.Save(failure)
	}
	return failure.Err
}

// reserve keeps other goroutines from making calls on c, until busy is unset, while this one is in an operation beside
// the data path. On a communicator that is not healthy there are no more calls, and nothing is reserved.
func (c *Comm) reserve(name string) (reserved bool, err error) {
	switch {
	case c.State() != Healthy:
		return false, nil
	case c.busy.Set():
		return true, nil
	case c.State() != Healthy: // which ends the call in progress
		return false, nil
	}
	return false, c.refusedError(name, ErrConcurrentUse)
}

// callError returns the error of r, call number seq, that failed with err.
func (c *Comm) callError(r *exec.Request, seq uint64, err error) *CallError {
	e := &CallError{Comm: c.name, Rank: c.rank, Size: c.size, Seq: seq, Op: r.Collective.Name,
		Label: r.Label(), Algorithm: r.Algorithm.Name, Peer: -1, Err: err}
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
	c.hooked.failed(err)
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

var errPanicked = errors.New("a call panicked")
