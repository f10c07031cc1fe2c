package store

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Job is which process this is, of which job.
type Job struct {
	Name       string
	Epoch      uint32
	Rank, Size int
	Log        *slog.Logger // is warned of those who are sent away; nil: nobody is
}

// Shared is a store that one process has and the others use over connections.
type Shared struct {
	keeper
	close    func() error
	refusals func() []string // nil: they went elsewhere
}

// Refusals returns those who came and do not belong to the job, in words.
func (s *Shared) Refusals() []string {
	if s.refusals == nil {
		return nil
	}
	return s.refusals()
}

// keeper is what all stores do.
type keeper interface {
	Set(ctx context.Context, key string, value []byte) error
	Get(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
}

// Get waits for a value. Who waits in vain hears who was sent away meanwhile.
func (s *Shared) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.keeper.Get(ctx, key)
	if refused := s.Refusals(); err != nil && len(refused) > 0 {
		err = fmt.Errorf("%w; sent away: %s", err, strings.Join(refused, "; "))
	}
	return value, err
}

// Close ends this process's use. If it has the store, the others' requests fail from now on.
func (s *Shared) Close() error { return s.close() }

// takenTime is how long a process waits for another job, or an earlier attempt at this one, that has the address to
// end.
const takenTime = time.Second

// strangers are how many connections there may be at the same time beyond one for each rank.
const strangers = 16

// How long to wait before trying to connect again: the first time, and at most.
const (
	firstTry = time.Millisecond
	longTry  = 50 * time.Millisecond
)

// host is the process that has the store.
type host struct {
	memory   *Memory
	listener net.Listener
	places   chan struct{} // taken by those who are served
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

func newHost(ctx context.Context, l net.Listener, limit int) *host {
	h := &host{memory: NewMemory(), listener: l, places: make(chan struct{}, limit)}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

// start has f run for c, which is closed in the end. Who comes too many is sent away, and tries again.
func (h *host) start(c net.Conn, f func()) {
	select {
	case h.places <- struct{}{}:
		h.running.Go(func() {
			defer c.Close()
			f()
			<-h.places
		})
	default:
		_ = c.Close()
	}
}

// shut ends all, and waits for it.
func (h *host) shut() error {
	h.cancel()
	_ = h.listener.Close() // it may be closed already
	h.running.Wait()
	return nil
}

// retry tries until it works, fails for longer than takenTime in a way that would not change, or ctx ends.
func retry(ctx context.Context, try func() error, again func(error) bool) error {
	end := time.Now().Add(takenTime)
	for wait := firstTry; ; wait = min(2*wait, longTry) {
		err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() == nil && !again(err) && time.Now().After(end):
			return err
		case pause(ctx, wait) != nil:
			return fmt.Errorf("%w; the last attempt: %w", wire.Timeout(ctx, []int{0}), err)
		}
	}
}
