package etcd

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/storetest"
)

// startTime is how long a server may take to start.
const startTime = time.Minute

// freeURL returns one that nobody listens at, for now.
func freeURL(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// newServer returns the address of a server of this test's own.
func newServer(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skipf("left out: %v; Debian's package etcd-server has it", err)
	}
	clients, peers, dir := freeURL(t), freeURL(t), t.TempDir()
	cmd := exec.Command(program, "--data-dir", filepath.Join(dir, "data"),
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the server said:\n%s", text)
		}
	})
	return clients
}

func newClient(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// newStore returns a store at the server, which may have to start first.
func newStore(t *testing.T, address string, ttl time.Duration) *Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	s, err := New(ctx, newClient(t, address), ttl)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestPromises(t *testing.T) {
	address := newServer(t)
	storetest.TestStore(t, func(t *testing.T) (one, two fast.Store) {
		if _, err := newClient(t, address).Delete(t.Context(), "", clientv3.WithPrefix()); err != nil {
			t.Fatal(err)
		}
		return newStore(t, address, 0), newStore(t, address, 0)
	})
}

// TestNothingIsLeft of a store that was closed, nor of one whose process has died.
func TestNothingIsLeft(t *testing.T) {
	address := newServer(t)
	closed, died := newStore(t, address, 0), newStore(t, address, time.Second)
	for key, s := range map[string]*Store{"closed": closed, "died": died} {
		if err := s.Set(t.Context(), key, []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	if err := closed.Set(t.Context(), "late", nil); err == nil {
		t.Error("a store that is closed sets a value")
	}
	died.stop() // the lease is kept alive no more
	c := newClient(t, address)
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		r, err := c.Get(t.Context(), "", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Kvs) == 0 {
			return
		}
		if time.Since(start) > startTime {
			t.Fatalf("%d values are left", len(r.Kvs))
		}
	}
}

// TestCompacted: a revision that the server has forgotten is not waited for.
func TestCompacted(t *testing.T) {
	s := newStore(t, newServer(t), 0)
	for range 3 {
		if err := s.Set(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.client.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Compact(t.Context(), r.Header.Revision); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if err := s.watch(ctx, "never", 1); err != nil {
		t.Error(err)
	}
}

// TestNoServer: everything ends with its context, and says so.
func TestNoServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := New(ctx, newClient(t, freeURL(t)), 0)
	if !errors.Is(err, context.DeadlineExceeded) && (err == nil || !strings.Contains(err.Error(), "DeadlineExceeded")) {
		t.Error(err)
	}
}
