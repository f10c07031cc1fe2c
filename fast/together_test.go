package fast

import (
	"context"
	"errors"
	"testing"
)

// TestEmptyMessagesTogether: calls that begin together and have no message are announced, so that a rank that waits for
// this one in a call with data learns in what they differ: both ranks do.
func TestEmptyMessagesTogether(t *testing.T) {
	for what, start := range map[string]func(ctx context.Context, c *Comm) *Handle{
		"send":    func(ctx context.Context, c *Comm) *Handle { return StartSend(ctx, c, []int32{}, 1) },
		"receive": func(ctx context.Context, c *Comm) *Handle { return StartRecv(ctx, c, []int32{}, 1) },
	} {
		for _, w := range worlds {
			t.Run(what+"/"+w.name, func(t *testing.T) {
				all := w.comms(t, 2)
				defer closeAll(t, all)
				ctx, cancel := context.WithTimeout(t.Context(), generous)
				defer cancel()
				errs := onAll(all, func(c *Comm) error {
					if c.Rank() == 0 {
						var h *Handle
						if err := c.Batch(func() error { h = start(ctx, c); return nil }); err != nil {
							return err
						}
						if err := h.Wait(ctx); err != nil {
							return err
						}
						return Broadcast(ctx, c, make([]int32, 4), 1) // it waits, and sends nothing that would tell
					}
					if what == "send" {
						return Recv(ctx, c, make([]int32, 4), 0)
					}
					return Send(ctx, c, make([]int32, long), 0)
				})
				var m *MismatchError
				if !errors.As(errors.Join(errs...), &m) || m.Field != "count" || errs[0] == nil || errs[1] == nil {
					t.Errorf("%v", errs)
				}
			})
		}
	}
}
