package fast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/wire"
)

// maxGoroutines is the most ranks that Run starts: memory grows with their square.
const maxGoroutines = 4096

// errLeft is the error of a rank whose function did not return: it called runtime.Goexit, as testing's FailNow does, or
// it is panicking.
var errLeft = errors.New("the rank's function did not return")

// Run calls f once for each of n ranks, each in its own goroutine with its own Comm, and waits for all of them. Each
// rank's Comm is closed when its f returns.
//
// The first rank whose f returns an error, or leaves by runtime.Goexit, ends the context of the others and aborts the
// communicator. Run's error names that rank first; errors of other ranks are joined to it, except those that merely
// follow from it. A panic of f is not recovered: it ends the program, as a panic does in any goroutine. If functions do
// not return although a rank has failed, a warning names them, after the time of WithSlowCall.
//
// Of the options of Init, those on tuning, the logger, hooks, traces, events and slow calls count; the others have no
// meaning.
func Run(ctx context.Context, n int, f func(ctx context.Context, c *Comm) error, opts ...InitOption) error {
	switch {
	case ctx == nil:
		return wire.Refuse("Run", "the context is nil")
	case f == nil:
		return wire.Refuse("Run", "the function is nil")
	case n < 1 || n > maxGoroutines:
		return wire.Refuse("Run", "%d ranks, want 1 to %d", n, maxGoroutines)
	}
	p := new(initConfig)
	if err := p.apply("Run", opts); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failures := failures{cancel: cancel, running: make([]bool, n), slow: cmp.Or(p.slow, flight.DefaultSlow),
		log: p.Logger()}
	defer failures.stop()
	job := inproc.NewJob(n)
	defer job.Close()
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			failures.watch(p.goroutineWorld(job.Plane(rank), n), n, func(c *Comm) error { return f(ctx, c) })
		})
	}
	all.Wait()
	return errors.Join(failures.errs...)
}

// failures collects the errors of ranks.
type failures struct {
	cancel  context.CancelCauseFunc
	slow    time.Duration // after the first one, when ranks that run on are named
	log     *slog.Logger  // nil: they are not
	mu      sync.Mutex
	running []bool // by rank, the functions that have not returned
	timer   *time.Timer
	errs    []error
	first   *PeerError // the cause of the others' canceled contexts
}

// watch runs the function of the rank whose world is w.
func (l *failures) watch(w *world, n int, f func(c *Comm) error) {
	rank := w.plane.Self()
	c, err := w.first(context.Background(), n)
	if err != nil { // another rank has left before this one began
		l.add(rank, err)
		return
	}
	err = errLeft
	l.runs(rank, true)
	defer func() {
		l.runs(rank, false)
		if err != nil {
			c.track.Save(err) // before the others hear of it, and say so
			l.add(rank, err)
			c.abort(err)
		}
		if closed := c.Close(); err == nil && closed != nil { // a call that could not be started, which nobody has waited for
			l.add(rank, closed)
		}
		_ = w.plane.Close() // if it has left others open
	}()
	err = f(c)
}

func (l *failures) add(rank int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		l.first = &PeerError{Rank: rank, Err: err}
		l.cancel(l.first)
		l.timer = time.AfterFunc(l.slow, l.warn)
	} else if l.isConsequence(err) {
		return
	}
	l.errs = append(l.errs, fmt.Errorf("rank %d: %w", rank, err))
}

// runs records whether the function of a rank runs.
func (l *failures) runs(rank int, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[rank] = is
}

// warn names the ranks whose functions run although another one has failed.
func (l *failures) warn() {
	l.mu.Lock()
	var late []int
	for rank, is := range l.running {
		if is {
			late = append(late, rank)
		}
	}
	l.mu.Unlock()
	if l.log != nil && len(late) > 0 {
		l.log.Warn("the functions of ranks have not returned, and Run waits for them", "ranks", late, "after", l.slow,
			"failed", l.first.Rank, "error", l.first.Err)
	}
}

// stop ends the warning.
func (l *failures) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// isConsequence reports whether err says no more than that the first failure ended the other ranks' calls.
func (l *failures) isConsequence(err error) bool {
	return errors.Is(err, l.first) || errors.Is(err, ErrAborted) || errors.Is(err, context.Canceled)
}
