package wire

import (
	"context"
	"sync/atomic"
)

// Awaited is for whom the work of a context waits, beside the data path, as far as it has said so.
type Awaited struct{ ranks atomic.Pointer[func() []int] }

type awaitedKey struct{}

// NewAwaited returns a context like ctx whose work says to the result for whom it waits.
func NewAwaited(ctx context.Context) (context.Context, *Awaited) {
	a := new(Awaited)
	return context.WithValue(ctx, awaitedKey{}, a), a
}

// Awaiting says for whom the work of ctx waits from now on. Ranks may be called from any goroutine, at any time.
func Awaiting(ctx context.Context, ranks func() []int) {
	if a, ok := ctx.Value(awaitedKey{}).(*Awaited); ok {
		a.ranks.Store(&ranks)
	}
}

// Ranks returns those; nil: it has not said so.
func (a *Awaited) Ranks() []int {
	if ranks := a.ranks.Load(); ranks != nil {
		return (*ranks)()
	}
	return nil
}
