package fast

import (
	"context"
	"errors"
	"fmt"
	"sync"

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
// follow from it. A panic of f is not recovered: it ends the program, as a panic does in any goroutine.
//
// Of the options of Init, those on tuning, the logger, traces, events and slow calls count; the others have no meaning.
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
	failures := failures{cancel: cancel}
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
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	errs   []error
}

// watch runs the function of the rank whose world is w.
func (l *failures) watch(w *world, n int, f func(c *Comm) error) {
	rank := w.plane.Self()
	c, err := w.first(context.Background(), n)
	if err != nil { // another rank has left before this one began
		l.add(fmt.Errorf("rank %d: %w", rank, err))
		return
	}
	err = errLeft
	defer func() {
		if err != nil {
			l.add(fmt.Errorf("rank %d: %w", rank, err))
			c.Abort()
		}
		if closed := c.Close(); err == nil && closed != nil { // a call that could not be started, which nobody has waited for
			l.add(fmt.Errorf("rank %d: %w", rank, closed))
		}
		_ = w.plane.Close() // if it has left others open
	}()
	err = f(c)
}

func (l *failures) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) > 0 && l.isConsequence(err) {
		return
	}
	l.errs = append(l.errs, err)
	l.cancel(l.errs[0])
}

// isConsequence reports whether err says no more than that the first failure ended the other ranks' calls.
func (l *failures) isConsequence(err error) bool {
	return errors.Is(err, l.errs[0]) || errors.Is(err, ErrAborted) || errors.Is(err, context.Canceled)
}
