package fast

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestStandoff: of ranks on two hosts two both send to each other, or both receive. They learn what the ring is, in the
// ranks of the whole, although the transport within a host numbers those that it reaches by itself.
func TestStandoff(t *testing.T) {
	for what, call := range map[string]func(ctx context.Context, c *Comm, other int) error{
		"send":    func(ctx context.Context, c *Comm, other int) error { return Send(ctx, c, make([]byte, long), other) },
		"receive": func(ctx context.Context, c *Comm, other int) error { return Recv(ctx, c, make([]byte, 8), other) },
	} {
		for _, size := range []int{3, 4} {
			for _, pair := range [][]int{{0, 2}, {size - 3, size - 1}, {0, 1}} {
				t.Run(what, func(t *testing.T) {
					all := initComms(t, size, oddAndEven)
					defer fasttest.CloseAll(t, all)
					ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
					defer cancel()
					two := []*Comm{all[pair[0]], all[pair[1]]}
					said := false
					for i, err := range fasttest.OnAll(two, func(c *Comm) error { return call(ctx, c, pair[0]+pair[1]-c.Rank()) }) {
						var d *DeadlockError
						if errors.As(err, &d) {
							ranks := slices.Sorted(slices.Values(d.Ranks))
							said = slices.Equal(ranks, pair) && slices.Equal(d.Sends, []bool{what == "send", what == "send"})
						}
						if !said && !errors.Is(err, ErrAborted) {
							t.Errorf("rank %d: %v", pair[i], err)
						}
					}
					if !said {
						t.Error("nobody says what the ring is")
					}
				})
			}
		}
	}
}
