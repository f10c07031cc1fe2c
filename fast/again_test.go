package fast

import (
	"context"
	"runtime"
	"testing"
)

// TestPreparedAgain: whoever has made a prepared call does nothing with its handle when the caller may have started it
// again.
func TestPreparedAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	err := Run(t.Context(), 3, func(ctx context.Context, c *Comm) error {
		x := []int64{1}
		p, err := c.Prepare(func(opt Option) error { return AllReduce(ctx, c, x, Max, opt) })
		if err != nil {
			return err
		}
		deadline, cancel := context.WithCancel(ctx) // the queue's goroutine makes the call
		defer cancel()
		for range 20000 {
			if err := p.Start(ctx); err != nil {
				return err
			}
			if err := p.Wait(deadline); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
