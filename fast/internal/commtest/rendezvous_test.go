package commtest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/setup"
)

// initAll has all ranks of a job in this process call Init with the options, and add up their numbers.
func initAll(t *testing.T, size int, opts func(rank int) []fast.InitOption) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			c, err := fast.Init(ctx, append([]fast.InitOption{fast.WithRank(rank, size), fast.WithJob(t.Name())},
				opts(rank)...)...)
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			buf := []int64{int64(rank)}
			if err := fast.AllReduce(ctx, c, buf, fast.Sum); err != nil || buf[0] != int64(size*(size-1)/2) {
				t.Errorf("rank %d: %v, %v", rank, buf, err)
			}
			if err := errors.Join(fast.Barrier(ctx, c), c.Close()); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
}

var someSecret = fast.WithSecret(bytes.Repeat([]byte{7}, 32))

// freeAddress returns one that nobody listens at, for now.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestStores has ranks meet in each store.
func TestStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		s := fast.NewMemoryStore()
		initAll(t, 3, func(int) []fast.InitOption { return []fast.InitOption{fast.WithStore(s)} })
	})
	t.Run("local", func(t *testing.T) {
		if !setup.CanShare {
			t.Skip("the local store is for Linux")
		}
		initAll(t, 3, func(int) []fast.InitOption { return nil })
	})
	t.Run("file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "job")
		initAll(t, 3, func(int) []fast.InitOption {
			return []fast.InitOption{fast.WithStoreAddress("file://" + dir), someSecret}
		})
		if left, err := os.ReadDir(dir); len(left) > 0 || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v is left, %v", left, err)
		}
	})
	t.Run("tcp", func(t *testing.T) {
		address := "tcp://" + freeAddress(t)
		initAll(t, 3, func(int) []fast.InitOption { return []fast.InitOption{fast.WithStoreAddress(address), someSecret} })
	})
	t.Run("tcp, on its own", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- fast.ServeStore(ctx, l, fast.WithJob(t.Name()), someSecret) }()
		address := "tcp://" + l.Addr().String()
		initAll(t, 3, func(int) []fast.InitOption { return []fast.InitOption{fast.WithStoreAddress(address), someSecret} })
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// TestWrongSecretIsTold: where a rank has another secret, it hears so, rank 0 warns of it, and all errors name it when
// the others give up.
func TestWrongSecretIsTold(t *testing.T) {
	address := "tcp://" + freeAddress(t)
	var warned fasttest.LockedBuffer
	waiting, giveUp := context.WithCancelCause(t.Context())
	defer giveUp(nil)
	errs := make([]error, 3)
	var ranks sync.WaitGroup
	for rank := range errs {
		ranks.Go(func() {
			ctx, secret := waiting, growSecret
			if rank == 1 {
				ctx, secret = t.Context(), bytes.Repeat([]byte{77}, 32)
			}
			c, err := fast.Init(ctx, fast.WithRank(rank, 3), fast.WithJob(t.Name()), fast.WithStoreAddress(address),
				fast.WithSecret(secret),
				fast.WithTransport("tcp"), fast.WithLogger(slog.New(slog.NewTextHandler(&warned, nil))))
			if errs[rank] = err; err == nil {
				_ = c.Close()
			}
			if rank == 1 {
				giveUp(errors.New("enough"))
			}
		})
	}
	ranks.Wait()
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "wrong secret") || strings.Contains(err.Error(), "2147483647") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if text := warned.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "wrong secret") {
		t.Errorf("the log has %q", text)
	}
}

func TestServeStoreRefuses(t *testing.T) {
	for want, o := range map[string]fast.InitOption{"no secret is given": fast.WithJob("j"),
		"5 bytes": fast.WithSecret(make([]byte, 5))} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := fast.ServeStore(t.Context(), l, o); !errors.Is(err, fast.ErrInvalidArgument) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Error("the listener is open:", err)
		}
	}
}

// strictStore is a store that does nothing when its context has ended, as those on a network are, and knows what is in
// it.
type strictStore struct {
	fast.Store
	kept sync.Map
}

func (s *strictStore) Set(ctx context.Context, key string, value []byte) error {
	s.kept.Store(key, nil)
	return s.Store.Set(ctx, key, value)
}

func (s *strictStore) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.kept.Delete(key)
	return s.Store.Delete(ctx, key)
}

// TestInitAgain has a rank try in vain to join a job, and then again, now with the others: of the first attempt nothing
// is left in the store.
func TestInitAgain(t *testing.T) {
	s := &strictStore{Store: fast.NewMemoryStore()}
	opts := []fast.InitOption{fast.WithStore(s), fast.WithJob(t.Name()), someSecret}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fast.Init(ctx, append(opts, fast.WithRank(1, 2))...); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	s.kept.Range(func(key, _ any) bool {
		t.Errorf("%s is left", key)
		return true
	})
	initAll(t, 2, func(int) []fast.InitOption { return opts })
}
