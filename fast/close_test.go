package fast

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCloseFinishes: what was started before Close still ends with its result, on all transports; what cannot end is
// ended.
func TestCloseFinishes(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for rank, err := range onAll(w.comms(t, 3), func(c *Comm) error {
				bufs := make([][]int, 5)
				handles := make([]*Handle, len(bufs))
				for i := range bufs {
					bufs[i] = input(c.Rank(), 50_000, i)
					handles[i] = StartAllReduce(context.Background(), c, bufs[i], Sum)
				}
				if err := c.Close(); err != nil {
					return err
				}
				for i, h := range handles {
					if err := verified(h.Wait(context.Background()), bufs[i], func(k int) int { return total(3, k, i) }); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			all := w.comms(t, 2)
			alone, start := StartBarrier(t.Context(), all[0]), time.Now()
			if err := all[0].Close(); err != nil {
				t.Error(err)
			}
			if err := alone.Wait(t.Context()); !errors.Is(err, ErrClosed) || time.Since(start) < finishTime {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
			closeAll(t, all)
		})
	}
}
