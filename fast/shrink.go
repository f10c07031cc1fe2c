package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/wire"
)

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
	return d, err
}
