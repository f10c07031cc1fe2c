package redis

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/storetest"
)

// startTime is how long a server may take to start.
const startTime = time.Minute

// newClient returns a client of a server of this test's own, which listens on a socket that is a file.
func newClient(t *testing.T) *redis.Client {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skipf("left out: %v; Debian's package redis-server has it", err)
	}
	dir, err := os.MkdirTemp("", "redis-") // t.TempDir may be too long for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = c.Close() })
	for start := time.Now(); c.Ping(t.Context()).Err() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > startTime {
			t.Fatal("the server does not come up")
		}
	}
	return c
}

func TestPromises(t *testing.T) {
	c := newClient(t)
	storetest.TestStore(t, func(t *testing.T) (one, two fast.Store) {
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return New(c, 0), New(c, time.Minute)
	})
}

// TestExpires: every value has its time.
func TestExpires(t *testing.T) {
	c := newClient(t)
	s := New(c, 50*time.Millisecond)
	if err := s.Set(t.Context(), "a", []byte("v")); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); c.Exists(t.Context(), "a").Val() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > startTime {
			t.Fatal("the value does not expire")
		}
	}
	if err := New(c, 0).Set(t.Context(), "b", nil); err != nil {
		t.Fatal(err)
	}
	if left := c.TTL(t.Context(), "b").Val(); left <= 0 || left > DefaultTTL {
		t.Errorf("%v are left", left)
	}
}

// TestFails: an error of the server is not waited out.
func TestFails(t *testing.T) {
	c := newClient(t)
	if err := c.LPush(t.Context(), "list", "x").Err(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if _, err := New(c, 0).Get(ctx, "list"); err == nil || ctx.Err() != nil {
		t.Error(err)
	}
	_ = c.Close()
	if _, err := New(c, 0).Get(ctx, "k"); err == nil || ctx.Err() != nil {
		t.Error(err)
	}
}
