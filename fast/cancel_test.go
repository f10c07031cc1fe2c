package fast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// endTime bounds how long a call that was cancelled or aborted may take.
const endTime = 250 * time.Millisecond

// TestCancelAndAbort ends calls at random moments, by their context or by Abort: every rank returns soon, nothing writes
// to the buffers any more, and no goroutine stays.
func TestCancelAndAbort(t *testing.T) {
	for _, w := range worlds {
		for _, how := range []string{"cancel", "abort"} {
			t.Run(w.name+"/"+how, func(t *testing.T) { endAtRandom(t, w, how) })
		}
	}
}

func endAtRandom(t *testing.T, w testWorld, how string) {
	n := tries(t, 1000/len(worlds)+1, 1000)
	before := runtime.NumGoroutine()
	late := delays{limit: endTime}
	parents := w.comms(t, 3)
	for i := range n {
		op := operations[i%len(operations)]
		all := again(t, parents)
		culprit := rand.IntN(len(all))
		ctx, cancel := context.WithCancel(t.Context())
		end := all[culprit].Abort
		if how == "cancel" {
			end = cancel
		}
		var ended time.Time
		buf := make([]int, 100_000)
		time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, func() { ended = time.Now(); end() })
		errs := onAll(all, func(c *Comm) error {
			mine := t.Context()
			if c.Rank() == culprit {
				mine = ctx
				defer c.Close() // an end between two calls harms nobody: the others would wait for the next one
			}
			if err := Broadcast(mine, c, slices.Clone(buf[:10]), 0); err != nil {
				return err
			}
			for seed := 0; ; seed++ {
				if err := op.run(mine, c, 10_000, seed); err != nil {
					return err
				}
			}
		})
		late.add(time.Since(ended))
		for rank, err := range errs {
			if bad := unexpectedEnd(err, rank == culprit, how); bad != "" {
				t.Errorf("%s, rank %d (%s by %d): %s: %v", op.name, rank, how, culprit, bad, err)
			}
		}
		cancel()
		closeAll(t, all)
	}
	closeAll(t, parents)
	late.check(t, "until the last rank returned")
	wantGoroutines(t, before)
}

// unexpectedEnd says what is wrong with the error of a rank whose call was ended, by itself or by another one.
func unexpectedEnd(err error, culprit bool, how string) string {
	var wrong *wrongResult
	var timeout *TimeoutError
	switch {
	case errors.As(err, &wrong):
		return "wrong result"
	case !culprit && how == "cancel" && errors.Is(err, ErrClosed):
	case !culprit || how == "abort":
		if !errors.Is(err, ErrAborted) {
			return "want ErrAborted"
		}
	case !errors.As(err, &timeout) || !errors.Is(err, context.Canceled):
		return "want TimeoutError"
	}
	return ""
}

func closeAll(t *testing.T, all []*Comm) {
	t.Helper()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// wantGoroutines waits until there are no more goroutines than before.
func wantGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// TestUntouched: after a call that was ended has returned, nothing writes to its buffer.
func TestUntouched(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			parents := w.comms(t, 3)
			defer closeAll(t, parents)
			for i := range tries(t, 50, 1000) {
				all := again(t, parents)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Duration(rand.IntN(1000))*time.Microsecond, cancel)
				errs := onAll(all, func(c *Comm) error {
					buf := make([]int, 200_000)
					for {
						err := AllReduce(ctx, c, buf, Max)
						if err == nil {
							continue
						}
						for i := range buf {
							buf[i] = -1 - c.Rank()
						}
						time.Sleep(2 * time.Millisecond)
						if i := slices.IndexFunc(buf, func(x int) bool { return x != -1-c.Rank() }); i >= 0 {
							return fmt.Errorf("[%d] was written after the call", i)
						}
						return nil
					}
				})
				if err := errors.Join(errs...); err != nil {
					t.Errorf("try %d: %v", i, err)
				}
				cancel()
				closeAll(t, all)
			}
		})
	}
}
