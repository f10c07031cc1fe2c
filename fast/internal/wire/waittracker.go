package wire

import (
	"context"
	"sync/atomic"
)

// WaitTracker knows which ranks the work of a context waits for outside the data path, as far as that was reported.
type WaitTracker struct{ ranks atomic.Pointer[func() []int] }

type waitTrackerKey struct{}

// WithWaitTracker returns a copy of ctx, and the tracker to which ReportWait reports in work with that context.
func WithWaitTracker(ctx context.Context) (context.Context, *WaitTracker) {
	a := new(WaitTracker)
	return context.WithValue(ctx, waitTrackerKey{}, a), a
}

// ReportWait reports the ranks that the work of ctx waits for from now on. Ranks may be called from any goroutine, at
// any time.
func ReportWait(ctx context.Context, ranks func() []int) {
	if a, ok := ctx.Value(waitTrackerKey{}).(*WaitTracker); ok {
		a.ranks.Store(&ranks)
	}
}

// Ranks returns the ranks that the work waits for, or nil if nothing was reported.
func (a *WaitTracker) Ranks() []int {
	if ranks := a.ranks.Load(); ranks != nil {
		return (*ranks)()
	}
	return nil
}
