package commtest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// finishTime is how long Close waits for calls that make no progress.
const finishTime = time.Second

// TestCloseFinishes: what was started before Close still ends with its result, on all transports; what cannot end is
// ended.
func TestCloseFinishes(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			for rank, err := range fasttest.OnAll(w.Comms(t, 3), func(c *fast.Comm) error {
				bufs := make([][]int, 5)
				handles := make([]*fast.Handle, len(bufs))
				for i := range bufs {
					bufs[i] = fasttest.Input(c.Rank(), 50_000, i)
					handles[i] = fast.StartAllReduce(context.Background(), c, bufs[i], fast.Sum)
				}
				if err := c.Close(); err != nil {
					return err
				}
				for i, h := range handles {
					if err := fasttest.Verified(h.Wait(context.Background()), bufs[i],
						func(k int) int { return fasttest.Total(3, k, i) }); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			all := w.Comms(t, 2)
			alone, start := fast.StartBarrier(t.Context(), all[0]), time.Now()
			if err := all[0].Close(); err != nil {
				t.Error(err)
			}
			if err := alone.Wait(t.Context()); !errors.Is(err, fast.ErrClosed) || time.Since(start) < finishTime {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestCloseWhileMoving: Close lets started calls end as long as they make progress, by ends of calls or by messages
// within one, and not for longer than a second without.
func TestCloseWhileMoving(t *testing.T) {
	const step = finishTime - 50*time.Millisecond
	for _, test := range []struct {
		pause time.Duration // of the other rank, before each of its four sends
		ends  bool
	}{{step, true}, {finishTime + 50*time.Millisecond, false}} {
		for name, start := range map[string]func(ctx context.Context, c *fast.Comm) []*fast.Handle{
			"calls": func(ctx context.Context, c *fast.Comm) (handles []*fast.Handle) {
				for range 4 {
					handles = append(handles, fast.StartBroadcast(ctx, c, make([]int64, 1), 1))
				}
				return handles
			},
			"messages": func(ctx context.Context, c *fast.Comm) (handles []*fast.Handle) {
				_ = c.Batch(func() error {
					for range 4 {
						handles = append(handles, fast.StartRecv(ctx, c, make([]int64, 1), 1))
					}
					return nil
				})
				return handles
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				all := comms(t, 2)
				handles := start(t.Context(), all[0])
				other := make(chan error, 1)
				go func() {
					var err error
					for range 4 {
						if time.Sleep(test.pause); name == "calls" {
							err = errors.Join(err, fast.Broadcast(t.Context(), all[1], make([]int64, 1), 1))
						} else {
							err = errors.Join(err, fast.Send(t.Context(), all[1], make([]int64, 1), 0))
						}
					}
					other <- err
				}()
				err := all[0].Close()
				for _, h := range handles {
					err = errors.Join(err, h.Wait(t.Context()))
				}
				if (err == nil) != test.ends || err != nil && !errors.Is(err, fast.ErrClosed) {
					t.Errorf("%s, with pauses of %v: %v", name, test.pause, err)
				}
				if err := <-other; (err == nil) != test.ends {
					t.Errorf("%s, with pauses of %v, the other rank: %v", name, test.pause, err)
				}
				fasttest.CloseAll(t, all)
			})
		}
	}
}

// TestStateNames: each state has a name, and what is none has a number.
func TestStateNames(t *testing.T) {
	for s, want := range map[fast.State]string{
		fast.Healthy: "Healthy", fast.Failed: "Failed", fast.Revoked: "Revoked", fast.Aborted: "Aborted",
		fast.Closed:     "Closed",
		fast.Closed + 1: "State(5)",
	} {
		if got := s.String(); got != want {
			t.Errorf("state %d is called %q, want %q", uint8(s), got, want)
		}
	}
}
