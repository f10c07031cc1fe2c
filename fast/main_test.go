package fast

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// withoutLauncher takes away what a launcher may have set.
func withoutLauncher(t *testing.T) {
	setEnv(t, map[string]string{"RANK": "", "WORLD_SIZE": "", "LOCAL_RANK": "", "LOCAL_WORLD_SIZE": "", "MASTER_ADDR": "",
		"MASTER_PORT": ""})
}

// TestMainAlone: without a launcher, the ranks are goroutines. Settings of the environment count.
func TestMainAlone(t *testing.T) {
	withoutLauncher(t)
	for _, n := range []int{1, 2, 3, 9} {
		var ranks atomic.Int64
		if err := Main(t.Context(), n, func(ctx context.Context, c *Comm) error {
			ranks.Add(1 << c.Rank())
			return Barrier(ctx, c)
		}); err != nil || ranks.Load() != 1<<n-1 {
			t.Errorf("%d ranks: %v, ranks %b", n, err, ranks.Load())
		}
	}
	boom := errors.New("boom")
	if err := Main(t.Context(), 2, func(context.Context, *Comm) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	t.Setenv("COLL_TUNE", "nowhere")
	err := Main(t.Context(), 2, func(context.Context, *Comm) error { return nil })
	if !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("there is no table: %v", err)
	}
}

// TestMainLaunched: under a launcher, this process is one rank, whatever n is.
func TestMainLaunched(t *testing.T) {
	setEnv(t, nil)
	var kept *Comm
	if err := Main(t.Context(), 9, func(ctx context.Context, c *Comm) error {
		kept = c
		if c.Size() != 1 {
			return errors.New("wrong size")
		}
		return Barrier(ctx, c)
	}); err != nil || kept == nil || kept.State() != Closed {
		t.Errorf("%v, %v", kept, err)
	}
	if err := Main(t.Context(), 9, nil); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("no function: %v", err)
	}
	boom := errors.New("boom")
	if err := Main(t.Context(), 9, func(_ context.Context, c *Comm) error {
		kept = c
		return boom
	}); !errors.Is(err, boom) || kept.State() != Closed || !errors.Is(kept.Err(), boom) {
		t.Errorf("%v, and the communicator: %v", err, kept.Err())
	}
	withoutLauncher(t)
	t.Setenv("COLL_RANK", "0")
	if err := Main(t.Context(), 9, func(context.Context, *Comm) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "COLL_RANK is set, but not COLL_SIZE") {
		t.Errorf("no size: %v", err)
	}
}

// TestMainOptions: options count whether there is a launcher or not, and more than the environment.
func TestMainOptions(t *testing.T) {
	for name, set := range map[string]func(*testing.T){
		"alone":    withoutLauncher,
		"launched": func(t *testing.T) { setEnv(t, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			set(t)
			t.Setenv("COLL_TUNE", "nowhere")
			if err := Main(t.Context(), 1, func(_ context.Context, c *Comm) error {
				if !c.exec.Reproducible {
					return errors.New("sums are not reproducible")
				}
				return nil
			}, WithReproducible(), WithTuningFile("")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMainLeft: a function that does not return leaves no open communicator.
func TestMainLeft(t *testing.T) {
	setEnv(t, nil)
	var kept *Comm
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = Main(t.Context(), 1, func(_ context.Context, c *Comm) error {
			kept = c
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	if kept.State() != Closed || !errors.Is(kept.Err(), errLeft) {
		t.Errorf("%v: %v", kept.State(), kept.Err())
	}
}
