package fast

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestDisagreement has two ranks make calls between which no message tells of the difference: both learn of it without
// an end of their context, at the latest by their next call.
func TestDisagreement(t *testing.T) {
	for name, calls := range map[string][2]func(ctx context.Context, c *Comm) error{
		"both receive": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"both send": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) }},
		"a receive against a collective": {
			func(ctx context.Context, c *Comm) error { return Recv(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"nothing against something": {
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, []int32{}, Sum) },
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, make([]int32, 4), Sum) }},
	} {
		for _, w := range worlds {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				all := w.comms(t, 2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for rank, err := range onAll(all, func(c *Comm) error {
					defer c.Close()
					if err := calls[c.Rank()](ctx, c); err != nil {
						return err
					}
					return Barrier(ctx, c)
				}) {
					var m *MismatchError
					if !errors.As(err, &m) || m.Rank != 1-rank {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}
