package fast

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/trace"
)

// TestRun calls each rank once, and closes its communicator.
func TestRun(t *testing.T) {
	for _, n := range []int{1, 2, 3, 9} {
		var ranks atomic.Int64
		var kept atomic.Pointer[Comm]
		err := Run(t.Context(), n, func(ctx context.Context, c *Comm) error {
			ranks.Add(1 << c.Rank())
			kept.Store(c)
			if c.Size() != n {
				return errors.New("wrong size")
			}
			return Barrier(ctx, c)
		})
		if err != nil || ranks.Load() != 1<<n-1 {
			t.Errorf("%d ranks: %v, ranks %b", n, err, ranks.Load())
		}
		if err := Barrier(t.Context(), kept.Load()); !errors.Is(err, ErrClosed) {
			t.Errorf("%d ranks: after Run: %v", n, err)
		}
	}
}

// TestRunFails names the rank that failed first, and not those that merely could not go on.
func TestRunFails(t *testing.T) {
	boom := errors.New("boom")
	err := Run(t.Context(), 4, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 2 {
			return boom
		}
		return Barrier(ctx, c)
	})
	if !errors.Is(err, boom) || err.Error() != "rank 2: boom" {
		t.Errorf("got %v", err)
	}
	err = Run(t.Context(), 3, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			return boom
		}
		<-ctx.Done() // outside of any call
		return ctx.Err()
	})
	if err == nil || err.Error() != "rank 1: boom" {
		t.Errorf("got %v", err)
	}
}

// TestRunJoins keeps errors that do not follow from the first one.
func TestRunJoins(t *testing.T) {
	err := Run(t.Context(), 2, func(ctx context.Context, c *Comm) error {
		return AllReduce(ctx, c, make([]int64, c.Rank()+1), Sum)
	})
	var mismatch *MismatchError
	if !errors.As(err, &mismatch) || mismatch.Field != "count" || strings.Count(err.Error(), "count is ") != 2 {
		t.Errorf("got %v", err)
	}
}

// TestRunWarns: if a rank has failed, and others do not return, they are named.
func TestRunWarns(t *testing.T) {
	lines := make(chan string, 100)
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		lines <- string(b)
		return len(b), nil
	}), nil))
	err := Run(t.Context(), 3, func(_ context.Context, c *Comm) error {
		if c.Rank() == 1 {
			return errors.New("boom")
		}
		if c.Rank() == 0 {
			for line := range lines {
				if strings.Contains(line, "ranks=[0") && strings.Contains(line, "failed=1") && strings.Contains(line, "boom") {
					return nil
				}
			}
		}
		return nil
	}, WithLogger(log), WithSlowCall(200*time.Millisecond))
	if err == nil || err.Error() != "rank 1: boom" {
		t.Error(err)
	}
}

// TestRunWarnsOnce: the warning comes once, 10 s after the first failure by default, and names those that run on then.
// There is none if all have returned before, or no logger.
func TestRunWarnsOnce(t *testing.T) {
	for _, x := range []struct {
		runs time.Duration // ranks 0 and 3, after the failure
		log  bool
		want int // warnings
	}{{flight.DefaultSlow - time.Second, true, 0}, {flight.DefaultSlow + time.Second, true, 1}, {time.Hour, true, 1},
		{time.Hour, false, 0}} {
		synctest.Test(t, func(t *testing.T) {
			var log fasttest.LockedBuffer
			logger := WithLogger(nil)
			if x.log {
				logger = WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
			}
			err := Run(t.Context(), 5, func(_ context.Context, c *Comm) error {
				switch c.Rank() {
				case 1:
					return errors.New("boom")
				case 2: // fails as well
					time.Sleep(flight.DefaultSlow / 2)
					return errors.New("bang")
				case 4: // leaves
					time.Sleep(flight.DefaultSlow / 2)
					runtime.Goexit()
				}
				time.Sleep(x.runs)
				return nil
			}, logger)
			time.Sleep(time.Hour)
			if text := log.String(); err == nil || strings.Count(text, "failed=1") != x.want ||
				strings.Count(text, `ranks="[0 3]" after=10s`) != x.want || strings.Count(text, "level=") != x.want {
				t.Errorf("ranks that run for %v: %v, want %d warnings: %s", x.runs, err, x.want, text)
			}
		})
	}
}

// writerFunc is an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestRunBlames: the error of a call that Run ends names the rank whose function failed, and those that its error does.
func TestRunBlames(t *testing.T) {
	own := errors.New("my own")
	for name, x := range map[string]struct {
		fail func(ctx context.Context, c *Comm) error
		want []int
	}{
		"mismatch": {func(ctx context.Context, c *Comm) error {
			return AllReduce(ctx, c, make([]int64, c.Rank()+1), Sum, WithAlgorithm("one-shot"))
		}, []int{0, 1}},
		"other": {func(_ context.Context, c *Comm) error {
			if c.Rank() == 0 {
				return nil
			}
			return own
		}, []int{1}},
	} {
		var blamed []int
		var seen error
		_ = Run(t.Context(), 3, func(ctx context.Context, c *Comm) error {
			if c.Rank() < 2 {
				return x.fail(ctx, c)
			}
			<-ctx.Done()
			seen = Barrier(ctx, c)
			blamed = Culprits(seen)
			return nil
		})
		if !slices.Equal(blamed, x.want) || name == "other" && !strings.Contains(seen.Error(), ": my own") {
			t.Errorf("%s: %v blames %v, want %v", name, seen, blamed, x.want)
		}
	}
}

// TestRunTimeout ends with its context.
func TestRunTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	err := Run(ctx, 2, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 0 {
			return Barrier(ctx, c)
		}
		<-ctx.Done()
		return nil
	})
	var timeout *TimeoutError
	if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestRunGoexit sees a rank whose goroutine ends without an error, as in a failed test.
func TestRunGoexit(t *testing.T) {
	err := Run(t.Context(), 2, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 1 {
			runtime.Goexit()
		}
		return Barrier(ctx, c)
	})
	if !errors.Is(err, errLeft) || !strings.HasPrefix(err.Error(), "rank 1: ") {
		t.Errorf("got %v", err)
	}
}

// TestRunRefuses has arguments of no use.
func TestRunRefuses(t *testing.T) {
	f := func(context.Context, *Comm) error { return nil }
	for _, err := range []error{
		//lint:ignore SA1012 it is what the test is about
		Run(nil, 1, f),
		Run(t.Context(), 0, f), Run(t.Context(), -1, f), Run(t.Context(), maxGoroutines+1, f), Run(t.Context(), 1, nil),
	} {
		if !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("got %v", err)
		}
	}
}

// TestRunTraces: each rank of Run writes its file when a call fails, where the option says.
func TestRunTraces(t *testing.T) {
	dir := t.TempDir()
	err := Run(t.Context(), 2, func(ctx context.Context, c *Comm) error {
		return AllReduce(ctx, c, make([]int64, 1+c.Rank()), Sum)
	}, WithTraceDir(dir), WithLogger(nil))
	var m *MismatchError
	if files, _ := filepath.Glob(filepath.Join(dir, "rank-*.jsonl")); !errors.As(err, &m) || len(files) != 2 {
		t.Errorf("files %q, %v", files, err)
	}
}

// TestRunTracesOwnFailure: so does a rank whose function fails between its calls, with that error as the reason.
func TestRunTracesOwnFailure(t *testing.T) {
	dir, own := t.TempDir(), errors.New("no more data")
	err := Run(t.Context(), 2, func(ctx context.Context, c *Comm) error {
		if err := Barrier(ctx, c); err != nil || c.Rank() == 1 {
			return errors.Join(err, own)
		}
		return Barrier(ctx, c)
	}, WithTraceDir(dir), WithLogger(nil))
	if !errors.Is(err, own) {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dir, "rank-1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got, err := trace.Read(file); err != nil || got.Reason != own.Error() || len(got.Entries) != 1 {
		t.Errorf("the trace is %+v, %v", got, err)
	}
}

// TestRunRecords: each rank keeps as many operations as a process does, and thousands of ranks not too many together.
func TestRunRecords(t *testing.T) {
	for n, want := range map[int]int{1: trace.MaxEntries, 3: trace.MaxEntries, maxGoroutines: 64} {
		p, job := new(initConfig), inproc.NewJob(1)
		if got := p.goroutineWorld(job.Plane(0), n).record.Operations; got != want {
			t.Errorf("%d ranks keep %d operations each, want %d", n, got, want)
		}
		job.Close()
	}
}
