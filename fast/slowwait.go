package fast

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// patience is how long it takes until what waits beside the data path is warned of, and where.
type patience struct {
	log  *slog.Logger  // nil: nowhere
	slow time.Duration // 0: slowCall
}

// patience returns that of the ranks whose calls r records.
func (r *recorder) patience() patience {
	if r == nil {
		return patience{}
	}
	return patience{r.log, r.slow}
}

// watch returns ctx for something that may wait for other ranks. Until stop it is warned of as a call is: when it has
// waited for the same ranks for so long, and then whenever that has been twice as long, with these ranks, and with
// where, in names and values as of a log.
func (p patience) watch(ctx context.Context, what string, where ...any) (_ context.Context, stop func()) {
	if p.log == nil {
		return ctx, func() {}
	}
	ctx, awaited := wire.NewAwaited(ctx)
	now := time.Now()
	w := &slowWait{slow: cmp.Or(p.slow, slowCall), ranks: awaited.Ranks, start: now, moved: now}
	w.warn = func(waiting []int, idle, takes time.Duration) {
		p.log.Warn("a call makes no progress", slices.Concat([]any{"primitive", what}, where, []any{"waiting", waiting,
			"seconds", idle.Round(time.Second).Seconds(), "running", takes.Round(time.Second).Seconds()})...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.slow/4, w.look)
	return ctx, w.stop
}

// slowWait is something that may wait for long.
type slowWait struct {
	slow  time.Duration
	ranks func() []int // for whom it waits
	warn  func(waiting []int, idle, takes time.Duration)
	start time.Time

	mu      sync.Mutex
	timer   *time.Timer
	waiting []int         // when it was looked at last; nil: not yet
	moved   time.Time     // since when it waits for these
	warned  time.Duration // for how long it had waited for these when it was warned of last
	over    bool
}

// look warns of it if it is time to, and is called again soon.
func (w *slowWait) look() {
	waiting := w.ranks()
	w.mu.Lock()
	now := time.Now()
	if w.waiting != nil && !slices.Equal(waiting, w.waiting) {
		w.moved, w.warned = now, 0
	}
	w.waiting = waiting
	idle := now.Sub(w.moved)
	due := !w.over && idle >= max(w.slow, 2*w.warned)
	if due {
		w.warned = idle
	}
	if !w.over {
		w.timer.Reset(w.slow / 4)
	}
	w.mu.Unlock()
	if due {
		w.warn(waiting, idle, now.Sub(w.start))
	}
}

func (w *slowWait) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
