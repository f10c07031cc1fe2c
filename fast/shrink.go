package fast

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/wire"
)

// ShrinkOption changes what Shrink does. All ranks pass the same options.
type ShrinkOption func(*shrinking)

// WithQuorum has Shrink fail with ErrNoQuorum, on all ranks that are left, if they are fewer than n. Where n is more
// than half of the ranks, at most one side of a network that is cut in two goes on.
func WithQuorum(n int) ShrinkOption { return func(s *shrinking) { s.quorum = n } }

// Shrink makes a new communicator of the ranks of c that have not failed, in the same order. All of these call Shrink,
// as soon as a call has failed; a rank that is still in a call gets out of it by Revoke, if it does not by itself. Who
// has failed is found out and agreed on here: ranks that died, that do not answer, that have closed or aborted c, or
// whose processes others cannot reach. Those that did not leave by themselves are fenced: should one come back, it gets
// ErrFenced. The new communicator is independent of c, which stays as it is; both are the caller's to close.
//
// If a rank fails during Shrink, the others go on without it. All ranks that Shrink succeeds on have communicators of
// the same ranks; of those, one that fails right afterwards is found by the first call on the new communicator, which
// can be shrunk in turn. On a communicator of which no rank has failed Shrink makes a new one of all ranks.
//
// Where the network is cut in two, each side takes the other one for failed, and both go on: two communicators, each of
// which believes to be what is left. If that must not be, pass WithQuorum.
//
// While a rank is in Shrink on a healthy communicator, other goroutines' calls on it get ErrConcurrentUse, unless one
// was running when Shrink began. Ranks that are in a call which needs a rank in Shrink get out of it, with a
// MismatchError whose Field is "operation", and can then call Shrink too. So on a healthy communicator no rank calls
// Shrink beside calls of its own.
//
// All ranks call Agree, Shrink and Grow in the same order, in every state but Aborted and Closed. Shrink fails with
// ErrNoQuorum; ErrFenced, if the others go on without this rank; MismatchError, if a rank called Agree or Grow instead;
// a TimeoutError at the end of ctx, which names a rank that was waited for; ErrClosed, ErrAborted, ErrConcurrentUse and
// ErrInvalidArgument; or why the new communicator cannot be made, on all ranks. After a TimeoutError Shrink may be
// called again, and goes on where it was; the others wait until then, unless this rank leaves or dies.
func (c *Comm) Shrink(ctx context.Context, opts ...ShrinkOption) (*Comm, error) {
	if err := c.enterAgreement(ctx, "Shrink"); err != nil {
		return nil, err
	}
	defer c.exitAgreement()
	s, err := c.shrinking(opts)
	if err != nil {
		return nil, err
	}
	for {
		if done, err := s.round(ctx); done || err != nil {
			return s.result(err)
		}
	}
}

// shrinking is Shrink on one rank.
type shrinking struct {
	c        *Comm
	quorum   int
	agreeing *agree.Agreement // that a round begins with; nil: it has not begun
	// What the rounds before have left:
	gone   agree.Set // who the new communicator is without
	made   *Comm     // nil: it could not be made
	err    error     // why
	failed int       // how many rounds in a row have made none although no rank was gone
}

// shrinking returns a new Shrink, or the one that goes on.
func (c *Comm) shrinking(opts []ShrinkOption) (*shrinking, error) {
	s := &shrinking{c: c}
	for _, o := range opts {
		if o == nil {
			return nil, wire.Refuse("Shrink", "an option is nil")
		}
		o(s)
	}
	if s.quorum < 0 || s.quorum > c.size {
		return nil, wire.Refuse("Shrink", "a quorum of %d of %d ranks", s.quorum, c.size)
	}
	c.agreements.mu.Lock()
	defer c.agreements.mu.Unlock()
	if before := c.agreements.shrinks; before != nil {
		before.quorum = s.quorum
		s, c.agreements.shrinks = before, nil
	}
	return s, nil
}

// shrinkTries is how often in a row all ranks try to make a communicator if no rank is found to be gone.
const shrinkTries = 3

// round has all ranks agree whether the communicator of the round before was made on all of them and none of them is
// gone since; if not, all make another one. Everything that ranks decide follows from what they agree on, so all do the
// same.
func (s *shrinking) round(ctx context.Context) (done bool, err error) {
	if s.agreeing == nil {
		if s.agreeing, err = s.c.propose(agree.Shrink, s.flags(), s.quorum); err != nil {
			return false, err
		}
	}
	x := s.agreeing
	v, err := s.c.outcome(ctx, agree.Shrink, x)
	if err != nil {
		return false, err
	}
	same := s.gone != nil && v.Gone.Len() == s.gone.Len() // who is gone stays gone
	switch {
	case same && v.Flags == 1:
		return true, nil
	case !same:
		s.failed = 0
	case s.failed == shrinkTries-1:
		return false, s.c.agreementError(agree.Shrink, x, cmp.Or(s.err, errMadeElsewhere))
	default:
		s.failed++
	}
	s.drop()
	s.agreeing, s.gone = nil, v.Gone
	return false, s.remake(ctx, x, &v)
}

// errMadeElsewhere is the error of a rank that has its end of a communicator which others could not make.
var errMadeElsewhere = errors.New("other ranks could not make the communicator")

// flags are 1 if this rank has the communicator of the round before.
func (s *shrinking) flags() uint64 {
	if s.made == nil {
		return 0
	}
	return 1
}

// remake makes the communicator of the ranks that are not gone. That it could not be made is no error: the next round
// tells the others.
func (s *shrinking) remake(ctx context.Context, x *agree.Agreement, v *agree.Value) error {
	var members []int
	for rank := range s.c.size {
		if !v.Gone.Has(rank) {
			members = append(members, rank)
		} else if v.Dead.Has(rank) {
			s.c.world.plane.Fence(s.c.process(rank), s.c.causeOf(rank, v))
		}
	}
	if len(members) < s.quorum {
		return s.c.agreementError(agree.Shrink, x, ErrNoQuorum)
	}
	ctx, cancel := s.c.agreements.agent.While(ctx, v.Gone)
	defer cancel()
	id := descend(s.c.id, append([]uint64{shrinkSalt, x.Seq}, v.Gone...)...) // on each side of a cut network another one
	s.made, s.err = s.c.derive(ctx, id, fmt.Sprintf("%s/shrink%d", s.c.name, x.Seq), members)
	return nil
}

// drop gives up what the round before has made.
func (s *shrinking) drop() {
	if s.made != nil {
		_ = s.made.Close() // nobody has used it
		s.made = nil
	}
}

// result is Shrink's. If ctx has ended, the communicator keeps s for the next call.
func (s *shrinking) result(err error) (*Comm, error) {
	a := &s.c.agreements
	if _, expired := wire.Expired(err); expired && a.keep(s) {
		return nil, err
	}
	if err != nil {
		s.drop()
	}
	return s.made, err
}
