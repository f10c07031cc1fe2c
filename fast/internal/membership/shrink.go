package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Shrink makes a communicator of the ranks that have not failed. It fails with wire.ErrNoQuorum if they are fewer than
// quorum.
func (m *Member) Shrink(ctx context.Context, quorum int) (io.Closer, error) {
	s := m.takeKept()
	if s == nil {
		s = &shrinking{m: m}
	}
	s.quorum = quorum
	for {
		if done, err := s.round(ctx); done || err != nil {
			return s.result(err)
		}
	}
}

// shrinking is Shrink on one rank. It may span several calls, whose contexts end.
type shrinking struct {
	m        *Member
	quorum   int
	agreeing *agree.Agreement // the one that a round begins with; nil: it has not begun
	// The result of the rounds so far:
	gone   agree.Set // the ranks that the new communicator is without
	made   io.Closer // the new communicator; nil: it could not be made
	err    error     // why
	failed int       // rounds in a row that have made none although no further rank was gone
}

// ShrinkTries is how often in a row all ranks try to make a communicator if no further rank is gone.
const ShrinkTries = 3

// round has all ranks agree whether all of them have the communicator of the round before, and none of them has gone
// since. If not, all make another one. All ranks decide by what they have agreed on, so all decide the same.
func (s *shrinking) round(ctx context.Context) (done bool, err error) {
	if s.agreeing == nil {
		flags := uint64(1)
		if s.made == nil {
			flags = 0
		}
		if s.agreeing, err = s.m.propose(agree.Shrink, flags, s.quorum); err != nil {
			return false, err
		}
	}
	x := s.agreeing
	v, err := s.m.outcome(ctx, agree.Shrink, x)
	if err != nil {
		return false, err
	}
	same := s.gone != nil && v.Gone.Len() == s.gone.Len() // ranks that are gone stay gone
	switch {
	case same && v.Flags == 1:
		return true, nil
	case !same:
		s.failed = 0
	case s.failed == ShrinkTries-1:
		return false, s.m.agreementError(agree.Shrink, x, cmp.Or(s.err, errMadeElsewhere))
	default:
		s.failed++
	}
	s.drop()
	s.agreeing, s.gone = nil, v.Gone
	return false, s.remake(ctx, x, &v)
}

// errMadeElsewhere is the error of a rank that has made its end of a communicator which other ranks could not make.
var errMadeElsewhere = errors.New("other ranks could not make the communicator")

// remake makes the communicator of the ranks that are not gone. If it cannot be made, that is no error: the next round
// tells the others.
func (s *shrinking) remake(ctx context.Context, x *agree.Agreement, v *agree.Value) error {
	var members []int
	for rank, process := range s.m.processes() {
		if !v.Gone.Has(rank) {
			members = append(members, process)
		} else if v.Dead.Has(rank) {
			s.m.plane.Fence(process, s.m.causeOf(rank, v))
		}
	}
	if len(members) < s.quorum {
		return s.m.agreementError(agree.Shrink, x, wire.ErrNoQuorum)
	}
	ctx, cancel := s.m.agent.While(ctx, v.Gone)
	defer cancel()
	// The ranks that are gone are part of the number: the two sides of a cut network make different communicators.
	id := control.DeriveID(s.m.id, append([]uint64{control.ShrinkSalt, x.Seq}, v.Gone...)...)
	s.made, s.err = s.m.comm.Make(ctx, id, fmt.Sprintf("%s/shrink%d", s.m.name, x.Seq), members)
	return nil
}

// drop closes the communicator of the round before, which nobody has used.
func (s *shrinking) drop() {
	if s.made != nil {
		_ = s.made.Close()
		s.made = nil
	}
}

// result returns what Shrink does. If ctx has ended, s is kept for the next call.
func (s *shrinking) result(err error) (io.Closer, error) {
	if _, expired := wire.Expired(err); expired && s.m.keep(s) {
		return nil, err
	}
	if err != nil {
		s.drop()
	}
	return s.made, err
}
