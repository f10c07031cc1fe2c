package flight

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Warner warns of long waits in operations that are no calls, such as Init or Agree.
type Warner struct {
	Log  *slog.Logger  // nil: it does not warn
	Slow time.Duration // after how long; 0: DefaultSlow
}

// Warner returns the Warner of the rank whose calls r records.
func (r *Recorder) Warner() Warner {
	if r == nil {
		return Warner{}
	}
	return Warner{r.Log, r.Slow}
}

// Watch returns a context for an operation that may wait for other ranks, and warns of it, as of a call, until stop:
// when it has been waiting for the same ranks for w.Slow, and then whenever that time has doubled. The warning has
// these ranks, and where: names and values as in a log record.
func (w Warner) Watch(ctx context.Context, operation string, where ...any) (_ context.Context, stop func()) {
	if w.Log == nil {
		return ctx, func() {}
	}
	ctx, awaited := wire.WithWaitTracker(ctx)
	now := time.Now()
	s := &slowWait{slow: cmp.Or(w.Slow, DefaultSlow), ranks: awaited.Ranks, start: now, moved: now}
	s.warn = func(waiting []int, still, running time.Duration) {
		w.Log.Warn("a call makes no progress", slices.Concat([]any{"primitive", operation}, where, []any{
			"waiting", wire.Listed(waiting), "seconds", still.Round(time.Second).Seconds(),
			"running", running.Round(time.Second).Seconds()})...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(s.slow/4, s.look)
	return ctx, s.stop
}

// slowWait is an operation that may wait for long.
type slowWait struct {
	slow  time.Duration
	ranks func() []int // that it waits for
	warn  func(waiting []int, still, running time.Duration)
	start time.Time

	mu      sync.Mutex
	timer   *time.Timer
	waiting []int         // at the last look; nil: there was none
	moved   time.Time     // when these became the ranks that it waits for
	warned  time.Duration // how long it had waited for these at the last warning
	over    bool
}

// look warns of the wait if it is time to, and sets the timer again.
func (w *slowWait) look() {
	waiting := w.ranks()
	w.mu.Lock()
	now := time.Now()
	if w.waiting != nil && !slices.Equal(waiting, w.waiting) {
		w.moved, w.warned = now, 0
	}
	w.waiting = waiting
	still := now.Sub(w.moved)
	due := !w.over && still >= max(w.slow, 2*w.warned)
	if due {
		w.warned = still
	}
	if !w.over {
		w.timer.Reset(w.slow / 4)
	}
	w.mu.Unlock()
	if due {
		w.warn(waiting, still, now.Sub(w.start))
	}
}

func (w *slowWait) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
