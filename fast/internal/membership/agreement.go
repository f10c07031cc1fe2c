package membership

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Agree returns the AND of the flags of all ranks that have not failed. The error names those that have; the flags are
// valid all the same.
func (m *Member) Agree(ctx context.Context, flags uint64) (uint64, error) {
	x, err := m.propose(agree.Flags, flags, 0)
	if err != nil {
		return 0, err
	}
	v, err := m.outcome(ctx, agree.Flags, x)
	if err != nil {
		return 0, err
	}
	return v.Flags, m.agreementError(agree.Flags, x, m.goneError(&v))
}

// propose begins an agreement. Shrink skips an agreement that was called off: on a rank whose Agree it was, that call
// has failed instead.
func (m *Member) propose(call agree.Call, flags uint64, quorum int) (*agree.Agreement, error) {
	a, err := m.getAgent()
	if err != nil {
		return nil, fmt.Errorf("%s on %s, rank %d of %d: %w", call, m.name, m.rank, m.size, err)
	}
	x := a.Start(call, flags, quorum)
	for call == agree.Shrink && m.calledOff(x.Seq) != nil {
		x = a.Start(call, flags, quorum)
	}
	return x, nil
}

// outcome returns what all ranks have agreed on.
func (m *Member) outcome(ctx context.Context, call agree.Call, x *agree.Agreement) (agree.Value, error) {
	ctx, stop := m.comm.Watch(ctx, call.String())
	defer stop()
	v, err := m.wait(ctx, call, x)
	if errors.Is(err, wire.ErrFenced) {
		m.comm.Fenced()
	}
	if rank, other, ok := v.Other(call); err == nil && ok {
		err = &wire.MismatchError{Rank: rank, Seq: x.Seq, TheirSeq: x.Seq, Field: "operation",
			Mine: call.String(), Theirs: other.String()}
	}
	m.comm.Log(call, x.Seq, &v, err)
	return v, m.agreementError(call, x, err)
}

// wait waits for the result. Meanwhile it inquires whether there can be one.
func (m *Member) wait(ctx context.Context, call agree.Call, x *agree.Agreement) (agree.Value, error) {
	if m.reserved {
		defer m.comm.Inquire(x.Seq, call.String(), x.WaitsFor)()
	}
	if call == agree.Shrink {
		return x.Wait(ctx)
	}
	ctx, end := m.cancelled(ctx, x.Seq)
	defer end()
	if off := m.calledOff(x.Seq); off != nil {
		return agree.Value{}, off
	}
	v, err := x.Wait(ctx)
	if off := m.calledOff(x.Seq); err != nil && off != nil {
		return v, off
	}
	return v, err
}

// goneError returns the failures of the ranks that v goes on without; nil if there are none.
func (m *Member) goneError(v *agree.Value) error {
	var all []error
	for _, rank := range v.Gone.Members() {
		all = append(all, &wire.PeerError{Rank: rank, Err: m.causeOf(rank, v)})
	}
	return errors.Join(all...)
}

// causeOf returns why a rank is gone that v goes on without.
func (m *Member) causeOf(rank int, v *agree.Value) error {
	if err := m.agent.Cause(rank); err != nil {
		return err
	}
	if v.Dead.Has(rank) {
		return wire.ErrDied
	}
	return wire.ErrClosed
}

// agreementError returns err as the error of agreement x; nil if it is nil.
func (m *Member) agreementError(call agree.Call, x *agree.Agreement, err error) error {
	if err == nil {
		return nil
	}
	return m.comm.CallError(call.String(), x.Seq, err)
}
