package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/internal/wire"
)

// explain returns the error of what failed with err while waiting for processes: if ctx has ended, it names these.
func (m *Mesh) explain(ctx context.Context, err error, waiting []int) error {
	var peer *wire.PeerError
	if err == nil || errors.As(err, &peer) || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return m.withRefusals(&wire.TimeoutError{Waiting: waiting, Err: wire.EndedBy(ctx, err)})
}

// withRefusals returns the error of a wait in vain, which also says who was refused meanwhile.
func (m *Mesh) withRefusals(err error) error {
	if r := append(m.server.Refusals(), m.cfg.Refused()...); len(r) > 0 {
		return fmt.Errorf("%w; refused meanwhile: %s", err, strings.Join(r, "; "))
	}
	return err
}

// blamed returns the error of a process that gave up, as the fault of those that it blames unless that is only self.
func (e *gaveUp) blamed(by *wire.PeerError, self int) error {
	blamed := slices.DeleteFunc(slices.Clone(e.ranks), func(r int) bool { return r == self })
	switch {
	case len(blamed) > 0 && e.blame == blameAbsent:
		err := fmt.Errorf("%w on rank %d, which gave up: %s", context.DeadlineExceeded, by.Rank, e.text)
		return &wire.TimeoutError{Waiting: blamed, Err: err}
	case len(blamed) > 0 && e.blame == blameDead:
		return &wire.PeerError{Rank: blamed[0], Err: fmt.Errorf("%w, says rank %d", wire.ErrDied, by.Rank)}
	}
	return by
}
