package agree

import (
	"context"

	"github.com/collgen/collgen/fast/internal/wire"
)

// While returns ctx, which ends too when a member is gone that is not in known, with a *wire.PeerError as its cause, or
// when this member has left. There is one at a time.
func (a *Agent) While(ctx context.Context, known Set) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known, a.cancel = known, cancel
	for _, member := range a.gone.Members() {
		a.interrupt(member)
	}
	if a.err != nil {
		cancel(a.err)
	}
	return ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.cancel = nil
		cancel(nil)
	}
}

// interrupt ends the context of While because a member is gone.
func (a *Agent) interrupt(member int) {
	if a.cancel != nil && !a.known.Has(member) {
		a.cancel(&wire.PeerError{Rank: member, Err: a.causes[member]})
	}
}
