package fast

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Agree has all ranks agree on the AND of the flags that they pass, although some of them may fail meanwhile. All ranks
// call Agree, Shrink and Grow in the same order. Agree works on a communicator in every state but Aborted and Closed.
//
// While a rank is in Agree on a healthy communicator it makes no other call on it: one that another goroutine makes
// gets ErrConcurrentUse, as Agree does while a call runs that was not started. Calls that were started go on. A rank in
// Agree and one in a call that needs it would wait for each other for ever: they get a MismatchError, whose Field is
// "operation", and the communicator is given up. The agreement counts, and fails for ranks that come to it later; their
// Shrink passes over it.
//
// Every rank that returns a result returns the same, also if it fails right afterwards. The flags are those of all
// ranks that have not failed; if some have, the error says so, the same on all ranks: it wraps a PeerError for each of
// them, and the flags are valid all the same. So
//
//	flags, err := c.Agree(ctx, 1)
//
// tells with flags == 1 and err == nil that all ranks got here; with flags == 1 and a PeerError, all that are left.
//
// Other errors come without flags. A TimeoutError at the end of ctx names a rank that was waited for; the agreement
// counts, and goes on for the others, with this rank's flags. A MismatchError: a rank called Shrink or Grow instead, on
// which all agree; or is in a call that needs this one, see above. ErrFenced: the others go on without this rank.
// ErrClosed and ErrAborted: this rank has left meanwhile. ErrConcurrentUse: another goroutine is in a call on c.
// ErrInvalidArgument: this rank has made 512 such calls more than another one, whose contexts have ended.
//
// Where the network is cut in two, the ranks of each half take those of the other one for failed, and the halves agree
// separately. Shrink with WithQuorum is a way not to go on then.
func (c *Comm) Agree(ctx context.Context, flags uint64) (uint64, error) {
	if err := c.enterAgreement(ctx, "Agree"); err != nil {
		return 0, err
	}
	defer c.exitAgreement()
	x, err := c.propose(agree.Flags, flags, 0)
	if err != nil {
		return 0, err
	}
	v, err := c.outcome(ctx, agree.Flags, x)
	if err != nil {
		return 0, err
	}
	return v.Flags, c.agreementError(agree.Flags, x, c.goneError(&v))
}

// enterAgreement makes c this goroutine's, until running is unlocked, for a call that agrees on something.
func (c *Comm) enterAgreement(ctx context.Context, name string) error {
	switch {
	case c == nil || c.size == 0:
		return wire.Refuse(name, "the communicator is nil or was made by neither Run nor Init")
	case ctx == nil:
		return wire.Refuse(name, "the context is nil")
	case fork.Child():
		return c.refusedError(name, ErrForked)
	case c.world == nil:
		return wire.Refuse(name, "the communicator has no control plane")
	case ctx.Err() != nil:
		return c.contextError(ctx, name)
	case !c.agreements.running.TryLock():
		return c.refusedError(name, ErrConcurrentUse)
	case c.agreements.open() >= agree.MaxOpen:
		c.agreements.running.Unlock()
		return wire.Refuse(name, "%d earlier calls, whose contexts have ended, wait for other ranks to make theirs", agree.MaxOpen)
	}
	var err error
	if c.agreements.reserved, err = c.reserve(name); err != nil && name != shrinkName { // Shrink is what gets out of calls
		c.agreements.running.Unlock()
		return err
	}
	return nil
}

// exitAgreement is the end of a call that enterAgreement has let in.
func (c *Comm) exitAgreement() {
	if c.agreements.reserved {
		c.busy.Unset()
	}
	c.agreements.running.Unlock()
}

// shrinkName is the name of Shrink.
var shrinkName = agree.Shrink.String()

// propose has all ranks agree on something, which they all have to call by the same name. Shrink passes over what was
// called off: a rank whose Agree that was has had an error instead.
func (c *Comm) propose(what agree.Call, flags uint64, quorum int) (*agree.Agreement, error) {
	a, err := c.agent()
	if err != nil {
		return nil, c.refusedError(what.String(), err)
	}
	x := a.Start(what, flags, quorum)
	for what == agree.Shrink && c.agreements.calledOff(x.Seq) != nil {
		x = a.Start(what, flags, quorum)
	}
	return x, nil
}

// outcome returns what all ranks have agreed on.
func (c *Comm) outcome(ctx context.Context, what agree.Call, x *agree.Agreement) (agree.Value, error) {
	ctx, stop := c.world.record.patience().watch(ctx, what.String(), "comm", c.name, "rank", c.rank, "size", c.size)
	defer stop()
	v, err := c.wait(ctx, what, x)
	if errors.Is(err, ErrFenced) {
		c.condemn(Failed, ErrFenced, noticeOf(Failed, c.rank, 0, ErrFenced))
	}
	if rank, other, ok := v.Other(what); err == nil && ok {
		err = &MismatchError{Rank: rank, Seq: x.Seq, TheirSeq: x.Seq, Field: "operation", Mine: what.String(), Theirs: other.String()}
	}
	c.logAgreement(what, x.Seq, &v, err)
	return v, c.agreementError(what, x, err)
}

// wait waits for the result, and meanwhile asks the others whether there can be one.
func (c *Comm) wait(ctx context.Context, what agree.Call, x *agree.Agreement) (agree.Value, error) {
	if c.agreements.reserved {
		members := x.WaitsFor
		if c.size <= maxRelayed { // a message from each to each: then it does not matter who tells whom of the result
			everybody := make([]int, c.size)
			for rank := range everybody {
				everybody[rank] = rank
			}
			members = func() []int { return everybody }
		}
		defer c.inquire(beside{Number: x.Seq}, what.String(), members)()
	}
	if what == agree.Shrink {
		return x.Wait(ctx)
	}
	ctx, end := c.agreements.waiting(ctx, x.Seq)
	defer end()
	if off := c.agreements.calledOff(x.Seq); off != nil {
		return agree.Value{}, off
	}
	v, err := x.Wait(ctx)
	if off := c.agreements.calledOff(x.Seq); err != nil && off != nil {
		return v, off
	}
	return v, err
}

// goneError returns the failures of ranks that v does without, if there are any.
func (c *Comm) goneError(v *agree.Value) error {
	var all []error
	for _, rank := range v.Gone.Members() {
		all = append(all, &PeerError{Rank: rank, Err: c.causeOf(rank, v)})
	}
	return errors.Join(all...)
}

// causeOf returns why a rank is gone that v does without.
func (c *Comm) causeOf(rank int, v *agree.Value) error {
	if err := c.agreements.agent.Cause(rank); err != nil {
		return err
	}
	if v.Dead.Has(rank) {
		return ErrDied
	}
	return ErrClosed
}

// agreementError returns err as the error of agreement x.
func (c *Comm) agreementError(what agree.Call, x *agree.Agreement, err error) error {
	if err == nil {
		return nil
	}
	return &CallError{Comm: c.name, Rank: c.rank, Size: c.size, Seq: x.Seq, Op: what.String(), Peer: -1, Err: err}
}
