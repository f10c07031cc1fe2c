package fast

import (
	"context"
	"io"
	"slices"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Agree returns the AND of the flags that all ranks pass, although some of them may fail meanwhile. All ranks call
// Agree, Shrink and Grow in the same order. Agree works on a communicator in every state but Aborted and Closed.
//
// Every rank that gets a result gets the same, even if it fails right afterwards. The flags are those of all ranks that
// have not failed. If some have failed, the error is the same on all ranks and wraps a PeerError for each of those; the
// flags are valid all the same. So after
//
//	flags, err := c.Agree(ctx, 1)
//
// flags == 1 and err == nil mean that all ranks got here; flags == 1 and a PeerError mean that all ranks that are left
// did.
//
// Other errors come without flags:
//
//   - TimeoutError at the end of ctx, which names a rank that was waited for. The agreement counts, and goes on for the
//     others, with this rank's flags.
//   - MismatchError, if a rank called Shrink or Grow instead, which all ranks learn; or if a rank is in a call that
//     needs this one, see below.
//   - ErrFenced, if the others go on without this rank.
//   - ErrClosed and ErrAborted, if this rank has left meanwhile.
//   - ErrConcurrentUse, if another goroutine is in a call on c that was not started.
//   - ErrInvalidArgument, also if this rank has made 512 such calls more than another one, whose contexts have ended.
//
// While a rank is in Agree on a healthy communicator, calls of other goroutines on it get ErrConcurrentUse. Calls that
// were started go on. A rank in Agree and one in a call that needs it would wait for each other for ever. They get a
// MismatchError, whose Field is "operation", and the communicator is given up. The agreement counts, and fails for
// ranks that come to it later; their Shrink skips it.
//
// If the network is cut in two, the ranks of each half take the others for failed, and the halves agree separately.
// Shrink with WithQuorum lets at most one of them go on.
func (c *Comm) Agree(ctx context.Context, flags uint64) (uint64, error) {
	if err := c.beginAgreement(ctx, agree.Flags); err != nil {
		return 0, err
	}
	defer c.endAgreement()
	return c.membership.Agree(ctx, flags)
}

// beginAgreement makes c this goroutine's, until endAgreement, for a call that agrees on something.
func (c *Comm) beginAgreement(ctx context.Context, call agree.Call) error {
	name := call.String()
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
	case !c.membership.TryBegin():
		return c.refusedError(name, ErrConcurrentUse)
	case c.membership.Open() >= agree.MaxOpen:
		c.membership.End()
		return wire.Refuse(name, "%d earlier calls, whose contexts have ended, wait for other ranks to make theirs",
			agree.MaxOpen)
	}
	reserved, err := c.reserve(name)
	if err != nil && call != agree.Shrink { // Shrink gets other goroutines out of their calls
		c.membership.End()
		return err
	}
	c.membership.Reserve(reserved)
	c.beginAside(name)
	return nil
}

// endAgreement ends a call that beginAgreement has let in.
func (c *Comm) endAgreement() {
	c.endAside()
	if c.membership.Reserved() {
		c.busy.Unset()
	}
	c.membership.End()
}

// without returns the ranks of c that are not in d.
func (c *Comm) without(d *Comm) []int {
	return slices.DeleteFunc(c.ranks(), func(rank int) bool { return d.rankOf(c.process(rank)) >= 0 })
}

// agreeing is a communicator as package membership needs it.
type agreeing struct{ *Comm }

// Make makes a communicator of processes.
func (c agreeing) Make(ctx context.Context, id uint64, name string, processes []int) (io.Closer, error) {
	made, err := c.world.comm(ctx, id, name, processes)
	if err != nil {
		return nil, err // not a nil *Comm
	}
	return made, nil
}

// Watch warns of a call that makes no progress, until stop.
func (c agreeing) Watch(ctx context.Context, call string) (_ context.Context, stop func()) {
	return c.world.record.Warner().Watch(ctx, call, "comm", c.name, "rank", c.rank, "size", c.size)
}

// Inquire asks other ranks, until stop, whether they are in a call that needs this rank.
func (c agreeing) Inquire(number uint64, call string, waitsFor func() []int) (stop func()) {
	// a message from each rank to each, so that it does not matter which ones learn the result first
	if c.size <= failure.MaxRelayed {
		all := c.ranks()
		waitsFor = func() []int { return all }
	}
	return c.detector.Inquire(deadlock.Operation{Number: number}, call, waitsFor)
}

// Fenced gives c up, because the other ranks go on without this one.
func (c agreeing) Fenced() {
	c.condemn(Failed, ErrFenced, failure.NoticeOf(Failed, c.rank, 0, ErrFenced))
}

// Log writes the result of an agreement to the event log.
func (c agreeing) Log(call agree.Call, number uint64, v *agree.Value, err error) {
	c.logAgreement(call, number, v, err)
}

// CallError returns err as the error of an agreement.
func (c agreeing) CallError(call string, number uint64, err error) error {
	return &CallError{Comm: c.name, Rank: c.rank, Size: c.size, Seq: number, Op: call, Peer: -1, Err: err}
}

// Shared reports whether this process has other communicators that are open.
func (c agreeing) Shared() bool { return c.world.users.Load() > 1 }

// ShrinkOption changes what Shrink does. All ranks pass the same options.
type ShrinkOption func(*shrinkConfig)

type shrinkConfig struct{ quorum int }

// WithQuorum has Shrink fail with ErrNoQuorum, on all ranks that are left, if they are fewer than n. If n is more than
// half of the ranks, at most one side of a network that is cut in two goes on.
func WithQuorum(n int) ShrinkOption { return func(s *shrinkConfig) { s.quorum = n } }

// Shrink makes a new communicator of the ranks of c that have not failed, in the same order. All of these call Shrink
// as soon as a call has failed. If a rank does not get out of its call, Revoke gets it out.
//
// Shrink finds out and agrees on which ranks have failed: those that died, that do not answer, that have closed or
// aborted c, or whose processes others cannot reach. Those that did not leave by themselves are fenced: if one comes
// back, it gets ErrFenced. The new communicator is independent of c, which stays as it is. The caller closes both.
//
// If a rank fails during Shrink, the others go on without it. The communicators of all ranks on which Shrink succeeds
// have the same ranks. If one of these fails right afterwards, the first call on the new communicator detects it, and
// Shrink can be called again on that. If no rank of c has failed, the new communicator has all of them.
//
// If the network is cut in two, each side takes the other one for failed, and both go on with communicators of their
// own. WithQuorum prevents that.
//
// While a rank is in Shrink on a healthy communicator, calls of other goroutines on it get ErrConcurrentUse, unless one
// was running when Shrink began. Ranks in a call that needs a rank in Shrink get a MismatchError, whose Field is
// "operation", and can then call Shrink too. So on a healthy communicator, no rank should call Shrink at the same time
// as another operation.
//
// All ranks call Agree, Shrink and Grow in the same order, in every state but Aborted and Closed. Shrink fails with
//
//   - ErrNoQuorum, see WithQuorum;
//   - ErrFenced, if the others go on without this rank;
//   - MismatchError, if a rank called Agree or Grow instead;
//   - TimeoutError at the end of ctx, which names a rank that was waited for. Shrink may then be called again, and goes
//     on where it was. The others wait until then, unless this rank leaves or dies.
//   - ErrClosed, ErrAborted, ErrConcurrentUse and ErrInvalidArgument;
//   - the reason why the new communicator cannot be made, on all ranks.
func (c *Comm) Shrink(ctx context.Context, opts ...ShrinkOption) (*Comm, error) {
	if err := c.beginAgreement(ctx, agree.Shrink); err != nil {
		return nil, err
	}
	defer c.endAgreement()
	var s shrinkConfig
	for _, o := range opts {
		if o == nil {
			return nil, wire.Refuse("Shrink", "an option is nil")
		}
		o(&s)
	}
	if s.quorum < 0 || s.quorum > c.size {
		return nil, wire.Refuse("Shrink", "a quorum of %d of %d ranks", s.quorum, c.size)
	}
	made, err := c.membership.Shrink(ctx, s.quorum)
	d, _ := made.(*Comm)
	if d != nil {
		c.hooked.tellShrunk(d, c.without(d))
	}
	return d, err
}
