package fast

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/monitor"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Health asks all ranks of c what they do now, and returns a report with a line for each: the state of its
// communicator, the calls in progress, the last one, and what its process does. With health.Stacks, ranks also send the
// stacks of their goroutines.
//
// Only the rank that wants to know calls it, in every state but Closed, from any goroutine, at any time: also while
// calls hang, here or on other ranks. It changes nothing, and gives no communicator up. It returns when all ranks have
// answered that are neither down nor have closed c, or when ctx ends, and after another tenth of a second if ranks are
// processes. The end of ctx is no error: ranks that have not answered are in the report, with what is known of their
// processes.
//
// It fails with ErrClosed, ErrForked and ErrInvalidArgument, and if ctx had ended before.
func (c *Comm) Health(ctx context.Context, opts ...health.Option) (*health.Report, error) {
	if err := c.mayMonitor(ctx, "Health"); err != nil {
		return nil, err
	}
	stacks := slices.Contains(opts, health.Stacks)
	if slices.ContainsFunc(opts, func(o health.Option) bool { return o != health.Stacks }) {
		return nil, wire.Refuse("Health", "an option is none of package health")
	}
	r := &health.Report{Comm: failure.OneLine(c.name), Rank: c.rank, Ranks: c.positions(ctx, c.ranks(), stacks)}
	if c.closed.Load() {
		return nil, c.refusedError("Health", ErrClosed)
	}
	return r, nil
}

// lateTime is how long a rank that fails in MonitoredBarrier waits for what those that have not come say.
const lateTime = time.Second

// MonitoredBarrier waits until all ranks have called it. If ctx ends before, the error names all ranks that have not,
// and where each of them is: in which call, since when, and what its process does. It is a health.LateError, and a
// TimeoutError.
//
// It works beside the data path: it neither needs nor disturbs the other calls of c, and ranks may be in these
// meanwhile. So it finds the ranks that hang in one. It costs a message from each rank to each; Barrier is faster. It
// may be called from any goroutine, by one at a time; a second one gets ErrConcurrentUse.
//
// The calls of each rank have numbers, from 1, and the calls of the same number belong together. A rank that gets nil
// knows that all have made theirs. When the context of a rank ends, that call of it has failed, and so have those of
// the same number on all ranks that wait in it or come to it later. Their error has a PeerError in place of the rank's
// TimeoutError. Where the last rank comes at the moment at which a context ends, some ranks may get nil and others an
// error; Agree is for those who have to know. After a failure c is as before, on all ranks: their next calls belong
// together, because a call that has failed counts.
//
// The error comes up to 1.1 s after the end of ctx, if ranks that have not come do not answer. A MismatchError says
// that the option WithLabel differs, which is the only one that can be given. A PeerError with ErrClosed says that a
// rank has closed c and will not come. Other errors are those of a communicator that is not healthy, or becomes so.
func MonitoredBarrier(ctx context.Context, c *Comm, opts ...Option) error {
	const name = "MonitoredBarrier"
	if err := c.mayMonitor(ctx, name); err != nil {
		return err
	}
	label, err := exec.OnlyLabel(name, opts)
	if err != nil {
		return err
	}
	if err := c.unusableError(name); err != nil {
		return err
	}
	watched, stop := ctx, func() {}
	if c.world != nil {
		watched, stop = c.world.record.Warner().Watch(ctx, name, "comm", c.name, "rank", c.rank, "size", c.size)
	}
	seq, err := c.monitor.Barrier(watched, label, c.ended)
	stop()
	switch {
	case err == nil:
		return nil
	case err == monitor.ErrInUse:
		return c.refusedError(name, ErrConcurrentUse)
	}
	failed := &CallError{Comm: c.name, Rank: c.rank, Size: c.size, Seq: seq, Op: name, Label: label, Peer: -1, Err: err}
	var late *TimeoutError
	switch f := c.termination.Load(); {
	case c.closed.Load():
		failed.Err = ErrClosed
	case f != nil:
		failed.Err = f.Err
	case errors.As(err, &late):
		if _, own := wire.Expired(err); own {
			failed.Waiting = late.Waiting
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateTime)
		defer cancel()
		failed.Err = &health.LateError{Ranks: c.positions(ctx, late.Waiting, false), Err: err}
	}
	return failed
}

// mayMonitor refuses a call of name that package monitor cannot carry out.
func (c *Comm) mayMonitor(ctx context.Context, name string) error {
	switch {
	case c == nil || c.size == 0:
		return wire.Refuse(name, "the communicator is nil or was made by neither Run nor Init")
	case ctx == nil:
		return wire.Refuse(name, "the context is nil")
	case fork.Child():
		return c.refusedError(name, ErrForked)
	case c.closed.Load():
		return c.refusedError(name, ErrClosed)
	case c.world == nil && c.size > 1:
		return wire.Refuse(name, "the communicator has no control plane")
	case ctx.Err() != nil:
		return c.contextError(ctx, name)
	}
	return nil
}

// positions returns what ranks do, as far as they say so before ctx ends, and what is known of their processes.
func (c *Comm) positions(ctx context.Context, ranks []int, stacks bool) []health.Rank {
	answers := c.monitor.Ask(ctx, ranks, stacks)
	conditions := c.conditions(ranks)
	all := make([]health.Rank, len(ranks))
	for i, rank := range ranks {
		x, answered := answers[rank]
		switch {
		case rank == c.rank:
			x = c.position()
			x.Answered = true
			if stacks {
				x.Stacks = monitor.Stacks()
			}
		case !answered && c.closedRanks[rank].Load():
			x.State = Closed.String()
		}
		x.Rank = rank
		if conditions != nil && rank != c.rank {
			x.Process = conditions[i]
		}
		all[i] = x
	}
	return all
}
