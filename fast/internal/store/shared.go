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

// Job says which process of which job opens a store.
type Job struct {
	Name       string
	Epoch      uint32
	Rank, Size int
	Log        *slog.Logger // gets a warning when a process is refused; may be nil
}

// Shared is a store that one process keeps and the others use over connections.
type Shared struct {
	Store
	close    func() error
	refusals func() []string // nil on processes that do not keep the store
}

// Refusals returns a line for each kind of process that was refused because it does not belong to the job.
func (s *Shared) Refusals() []string {
	if s.refusals == nil {
		return nil
	}
	return s.refusals()
}

// Get waits for a value. If the wait fails, the error lists who was refused meanwhile.
func (s *Shared) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.Store.Get(ctx, key)
	if refused := s.Refusals(); err != nil && len(refused) > 0 {
		err = fmt.Errorf("%w; refused meanwhile: %s", err, strings.Join(refused, "; "))
	}
	return value, err
}

// Close ends this process's use of the store. If it keeps the store, the requests of the others fail from now on.
func (s *Shared) Close() error { return s.close() }

// extraClients is how many connections a host serves at once, beyond one for each rank.
const extraClients = 16

// host is the process that keeps the store.
type host struct {
	memory   *Memory
	listener net.Listener
	slots    chan struct{} // taken by the clients that are served
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

func newHost(ctx context.Context, l net.Listener, limit int) *host {
	h := &host{memory: NewMemory(), listener: l, slots: make(chan struct{}, limit)}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

// start runs f for c, which is closed in the end. A client beyond the limit is disconnected, and tries again.
func (h *host) start(c net.Conn, f func()) {
	select {
	case h.slots <- struct{}{}:
		h.running.Go(func() {
			defer c.Close()
			f()
			<-h.slots
		})
	default:
		_ = c.Close()
	}
}

// close ends all connections and waits for their goroutines.
func (h *host) close() error {
	h.cancel()
	_ = h.listener.Close() // it may be closed already
	h.running.Wait()
	return nil
}

// conflictTime is how long retry repeats an attempt that fails for good, because another job, or an earlier attempt at
// this one, may be about to release the address.
const conflictTime = time.Second

// How long to wait before trying to connect again.
const (
	minRetryDelay = time.Millisecond
	maxRetryDelay = 50 * time.Millisecond
)

// retry calls try until it succeeds, ctx ends, or it has failed for conflictTime with an error that is not transient.
func retry(ctx context.Context, try func() error, transient func(error) bool) error {
	end := time.Now().Add(conflictTime)
	for wait := minRetryDelay; ; wait = min(2*wait, maxRetryDelay) {
		err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() == nil && !transient(err) && time.Now().After(end):
			return err
		case sleep(ctx, wait) != nil:
			return fmt.Errorf("%w; the last attempt: %w", wire.Timeout(ctx, []int{0}), err)
		}
	}
}
