package mesh

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// board is a store in memory: who publishes first counts.
type board struct {
	mu      sync.Mutex
	cards   map[string][]byte
	changed chan struct{}
}

func newBoard() *board { return &board{cards: make(map[string][]byte), changed: make(chan struct{})} }

func (b *board) publish(process int) func(context.Context, string, []byte) error {
	return func(_ context.Context, round string, card []byte) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if key := fmt.Sprint(round, process); b.cards[key] == nil {
			b.cards[key] = bytes.Clone(card)
			close(b.changed)
			b.changed = make(chan struct{})
		}
		return nil
	}
}

func (b *board) fetch(ctx context.Context, round string, process int) ([]byte, error) {
	for {
		b.mu.Lock()
		card, changed := b.cards[fmt.Sprint(round, process)], b.changed
		b.mu.Unlock()
		if card != nil {
			return card, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// config returns that of a process of a job of size, which meets the others at b.
func (b *board) config(process, size int) Config {
	return Config{
		Identity:    secure.Identity{Job: "test", Epoch: 1, Process: process, Size: size},
		Credentials: secure.FromSecret(secure.Secret{1, 2, 3}),
		Publish:     b.publish(process), Fetch: b.fetch,
		HeartbeatTimeout: time.Minute, // a busy machine stops everybody for a while; who tests freezing says so
	}
}

// soon is time enough for everything that does not hang.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// together runs f for each of n processes at once.
func together(n int, f func(process int)) {
	var work sync.WaitGroup
	for p := range n {
		work.Go(func() { f(p) })
	}
	work.Wait()
}

// joinAll has processes join at once.
func joinAll(ctx context.Context, configs ...Config) ([]*Mesh, []error) {
	meshes, errs := make([]*Mesh, len(configs)), make([]error, len(configs))
	together(len(configs), func(p int) { meshes[p], errs[p] = Join(ctx, configs[p]) })
	return meshes, errs
}

// newJob returns n processes that have joined, each with its configuration changed by change. They are closed when the
// test ends, and then none of their goroutines may be left.
func newJob(t *testing.T, n int, change func(*Config)) []*Mesh {
	t.Helper()
	leavesNothing(t)
	b := newBoard()
	var configs []Config
	for p := range n {
		c := b.config(p, n)
		if change != nil {
			change(&c)
		}
		configs = append(configs, c)
	}
	meshes, errs := joinAll(soon(t), configs...)
	t.Cleanup(func() { closeAll(meshes) })
	for p, err := range errs {
		if err != nil {
			t.Fatalf("process %d: %v", p, err)
		}
	}
	return meshes
}

func closeAll(meshes []*Mesh) {
	together(len(meshes), func(p int) {
		if meshes[p] != nil {
			meshes[p].Close()
		}
	})
}

// leavesNothing has the test fail if at its end there are more goroutines than now.
func leavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				var all bytes.Buffer
				_ = pprof.Lookup("goroutine").WriteTo(&all, 1)
				t.Errorf("%d goroutines, and %d before:\n%s", runtime.NumGoroutine(), before, all.String())
				return
			}
		}
	})
}

func forceTCP(c *Config) { c.ForceTCP = true }

// hosts has each process on a host of its own, all of which have the first address that others can use.
func hosts(t *testing.T) func(*Config) {
	a := outside(t)
	return func(c *Config) {
		c.Host = fmt.Sprint("host", c.Identity.Process)
		c.Addresses = func() ([]netip.Addr, string, error) { return []netip.Addr{a}, "the test says so", nil }
	}
}

// ways returns the ways in which processes can be connected.
func ways(t *testing.T) map[string]func(*Config) {
	all := map[string]func(*Config){"local": nil, "tcp": forceTCP}
	if hasOutside() {
		maps.Copy(all, map[string]func(*Config){"hosts": hosts(t)})
	}
	return all
}

// eventually waits until something is so.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is not so after a minute")
		}
	}
}

// falls is what a watcher hears.
type falls chan fallen

type fallen struct {
	process int
	err     error
}

func watch(m *Mesh) falls {
	f := make(falls, 100)
	m.Watch(func(process int, err error) { f <- fallen{process, err} })
	return f
}

// next returns the next fall, which comes soon.
func (f falls) next(t *testing.T) fallen {
	t.Helper()
	select {
	case x := <-f:
		return x
	case <-time.After(time.Minute):
		t.Fatal("nothing fell")
		return fallen{}
	}
}

func topic(seq int) wire.Topic { return wire.Topic{Comm: 7, Kind: 3, Seq: uint32(seq)} }
