package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/internal/wire"
)

// explain is the error of joining that failed with err while waiting for processes. What another one said when it gave up
// counts, as it knows best.
func (m *Mesh) explain(ctx context.Context, err error, waiting []int) error {
	var gave *gaveUp
	var peer *wire.PeerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &peer) && errors.As(err, &gave):
		return gave.blamed(peer, m.me.Process)
	case peer != nil || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)):
		return err
	}
	err = &wire.TimeoutError{Waiting: waiting, Err: err}
	if r := m.server.Refusals(); len(r) > 0 {
		err = fmt.Errorf("%w; refused meanwhile: %s", err, strings.Join(r, "; "))
	}
	return err
}

// blamed is the error of a process that gave up, as the fault of those that it blames unless that is only self.
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
