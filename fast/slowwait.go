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

// patience is that of the ranks whose calls r records.
func (r *recorder) patience() patience {
	if r == nil {
		return patience{}
	}
	return patience{r.log, r.slow}
}

// watch is ctx for something that may wait for other ranks. Until stop it is warned of as a call is: after so long, and then whenever it
// has taken twice as long, with the ranks that it waits for, and with where, in names and values as of a log.
func (p patience) watch(ctx context.Context, what string, where ...any) (_ context.Context, stop func()) {
	if p.log == nil {
		return ctx, func() {}
	}
	ctx, awaited := wire.NewAwaited(ctx)
	w := &slowWait{takes: cmp.Or(p.slow, slowCall)}
	w.warn = func(takes time.Duration) {
		p.log.Warn("a call makes no progress", slices.Concat([]any{"primitive", what}, where,
			[]any{"waiting", awaited.Ranks(), "seconds", takes.Round(time.Second).Seconds()})...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.takes, w.look)
	return ctx, w.stop
}

// slowWait is something that may wait for long.
type slowWait struct {
	warn func(takes time.Duration)

	mu    sync.Mutex
	timer *time.Timer
	takes time.Duration // so far, when it is looked at next
	over  bool
}

// look warns of it, and is called again when it has taken twice as long.
func (w *slowWait) look() {
	w.mu.Lock()
	takes, over := w.takes, w.over
	if !over {
		w.timer.Reset(takes)
		w.takes *= 2
	}
	w.mu.Unlock()
	if !over {
		w.warn(takes)
	}
}

func (w *slowWait) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
