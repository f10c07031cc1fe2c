package commtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
)

// endTime bounds how long a call that was cancelled or aborted may take.
const endTime = 250 * time.Millisecond

// TestCancelAndAbort ends calls at random moments, by their context or by Abort: every rank returns soon, nothing
// writes to the buffers any more, and no goroutine stays.
func TestCancelAndAbort(t *testing.T) {
	for _, w := range worlds {
		for _, how := range []string{"cancel", "abort"} {
			t.Run(w.Name+"/"+how, func(t *testing.T) { endAtRandom(t, w, how) })
		}
	}
}

func endAtRandom(t *testing.T, w World, how string) {
	n := fasttest.Tries(t, 400/len(worlds), 1000)
	before := runtime.NumGoroutine()
	late := fasttest.Delays{Limit: endTime}
	var buffers, written atomic.Int64
	parents := w.Comms(t, 3)
	for i := range n {
		op := operation.All[i%len(operation.All)]
		all := fasttest.Again(t, parents)
		culprit := rand.IntN(len(all))
		ctx, cancel := context.WithCancel(t.Context())
		end := all[culprit].Abort
		if how == "cancel" {
			end = cancel
		}
		var ended time.Time
		returned := make([]time.Time, len(all))
		time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, func() { ended = time.Now(); end() })
		errs := fasttest.OnAll(all, func(c *fast.Comm) error {
			mine := t.Context()
			if c.Rank() == culprit {
				mine = ctx
				defer c.Close() // an end between two calls harms nobody: the others would wait for the next one
			}
			if err := fast.Broadcast(mine, c, make([]int, 10), 0); err != nil {
				returned[c.Rank()] = time.Now()
				return err
			}
			for seed := 0; ; seed++ {
				err := op.Run(mine, c, 10_000, seed)
				if err == nil {
					continue
				}
				returned[c.Rank()] = time.Now()
				switch has, late := writtenAfter(err, func() { time.Sleep(2 * time.Millisecond) }); {
				case late:
					written.Add(1)
					fallthrough
				case has:
					buffers.Add(1)
				}
				return err
			}
		})
		late.Add(slices.MaxFunc(returned, time.Time.Compare).Sub(ended))
		for rank, err := range errs {
			if bad := unexpectedEnd(err, rank == culprit, how); bad != "" {
				t.Errorf("%s, rank %d (%s by %d): %s: %v", op.Name, rank, how, culprit, bad, err)
			}
		}
		cancel()
		fasttest.CloseAll(t, all)
	}
	fasttest.CloseAll(t, parents)
	late.Check(t, "until the last rank returned")
	t.Logf("%d tries: of %d buffers of calls that ended, %d were written to afterwards", n, buffers.Load(), written.Load())
	if buffers.Load() == 0 || written.Load() > 0 {
		t.Errorf("%d of %d buffers were written to after the call", written.Load(), buffers.Load())
	}
	wantGoroutines(t, before)
}

// unexpectedEnd says what is wrong with the error of a rank whose call was ended, by itself or by another one.
func unexpectedEnd(err error, culprit bool, how string) string {
	var wrong *fasttest.WrongResult
	var timeout *fast.TimeoutError
	switch {
	case errors.As(err, &wrong):
		return "wrong result"
	case !culprit && how == "cancel" && errors.Is(err, fast.ErrClosed):
	case !culprit || how == "abort":
		if !errors.Is(err, fast.ErrAborted) {
			return "want ErrAborted"
		}
	case !errors.As(err, &timeout) || !errors.Is(err, context.Canceled):
		return "want TimeoutError"
	}
	return ""
}

// wantGoroutines waits until there are no more goroutines than before.
func wantGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(fasttest.Generous); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// poison is what no call writes.
const poison = -1

// writtenAfter fills the buffer of a call that has ended with err, if it has one, and tells whether that is changed
// meanwhile.
func writtenAfter(err error, meanwhile func()) (has, written bool) {
	var u *fasttest.Unfinished
	if !errors.As(err, &u) || len(u.Buf) == 0 {
		return false, false
	}
	for i := range u.Buf {
		u.Buf[i] = poison
	}
	meanwhile()
	return true, slices.ContainsFunc(u.Buf, func(x int) bool { return x != poison })
}

// TestWrittenAfter: what writes to the buffer of a call that has ended is found.
func TestWrittenAfter(t *testing.T) {
	buf := make([]int, 100)
	late := func() { buf[99] = 7 }
	if has, written := writtenAfter(fmt.Errorf("it failed: %w", fasttest.Verified(fast.ErrAborted, buf, nil)),
		late); !has || !written {
		t.Error(has, written)
	}
	if has, written := writtenAfter(fasttest.Verified(fast.ErrAborted, buf, nil), func() {}); !has || written {
		t.Error("nobody writes:", has, written)
	}
}

// TestGivenCause: a context that ends with a cause of its caller's ends a call with both, the cause and its own error,
// whether the call had begun or not.
func TestGivenCause(t *testing.T) {
	mine := errors.New("mine")
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, mine)
			defer cancel()
			over, stop := context.WithTimeoutCause(t.Context(), -1, mine)
			defer stop()
			for _, err := range []error{fast.Barrier(over, all[0]), fast.Barrier(ctx, all[0])} {
				var timeout *fast.TimeoutError
				if !errors.As(err, &timeout) || !timeout.Timeout() || !errors.Is(err, mine) ||
					!errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
		})
	}
}
