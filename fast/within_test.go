package fast

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestWithinMatchesNothingElse: what Split, Dup and Alloc send inside is not taken for the call of a user that is the
// same otherwise, nor for each other. All ranks fail, and somebody says which two operations met.
func TestWithinMatchesNothingElse(t *testing.T) {
	gather := func(ctx context.Context, c *Comm) error {
		return AllGatherInto(ctx, c, make([]int64, splitFields*c.Size()), make([]int64, splitFields))
	}
	split := func(ctx context.Context, c *Comm) error { _, err := c.Split(ctx, 1, 0); return err }
	dup := func(ctx context.Context, c *Comm) error { _, err := c.Dup(ctx); return err }
	alloc := func(ctx context.Context, c *Comm) error { _, err := Alloc[int64](ctx, c, 3); return err }
	for _, x := range []struct {
		names [2]string // as the error has them
		calls [2]func(ctx context.Context, c *Comm) error
	}{
		{[2]string{"AllGather", "Split"}, [2]func(ctx context.Context, c *Comm) error{gather, split}},
		{[2]string{"AllGather", "Dup"}, [2]func(ctx context.Context, c *Comm) error{gather, dup}},
		{[2]string{"Dup", "Split"}, [2]func(ctx context.Context, c *Comm) error{dup, split}},
		{[2]string{"Barrier", "Alloc"}, [2]func(ctx context.Context, c *Comm) error{barrierCall, alloc}},
	} {
		for _, w := range Worlds {
			for _, size := range []int{2, 3, 5} {
				for odd := range 2 {
					t.Run(strings.Join(x.names[:], "/")+"/"+w.Name, func(t *testing.T) {
						all := w.Comms(t, size)
						defer fasttest.CloseAll(t, all)
						ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
						defer cancel()
						errs := fasttest.OnAll(all, func(c *Comm) error { return x.calls[fasttest.Unless(c.Rank() == odd, 0, 1)](ctx, c) })
						if err := wantMismatch(errs, odd, []string{"primitive"}); err != nil {
							t.Errorf("%d ranks, rank %d is odd: %v", size, odd, err)
						}
						for _, name := range x.names {
							if !strings.Contains(errors.Join(errs...).Error(), name) {
								t.Errorf("%d ranks: %q is not named: %v", size, name, errs)
							}
						}
					})
				}
			}
		}
	}
}

// barrierCall is Barrier without options.
func barrierCall(ctx context.Context, c *Comm) error { return Barrier(ctx, c) }

// TestLaterCallsKnowOfEarlierOnes: ranks disagreed in a call that had no message for some of them. None of them
// succeeds in the next one, although all agree on that: there every rank has something of every other one. Those that
// are told say what differed.
func TestLaterCallsKnowOfEarlierOnes(t *testing.T) {
	for what, x := range map[string]struct {
		first func(ctx context.Context, c *Comm) error
		field string
	}{
		"receivers of nothing": {func(ctx context.Context, c *Comm) error {
			return Broadcast(ctx, c, make([]float32, fasttest.Unless(c.Rank() == 0, 0, 4)), 0)
		}, "count"},
		"two calls of nothing": {func(ctx context.Context, c *Comm) error {
			if c.Rank() == 0 {
				return Gather(ctx, c, []float32{}, 0)
			}
			return Broadcast(ctx, c, []float32{}, 0)
		}, "primitive"},
	} {
		for _, w := range Worlds {
			for _, size := range []int{2, 3, 5} {
				t.Run(what+"/"+w.Name, func(t *testing.T) {
					all := w.Comms(t, size)
					defer fasttest.CloseAll(t, all)
					ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
					defer cancel()
					errs := fasttest.OnAll(all, func(c *Comm) error {
						if err := x.first(ctx, c); err != nil {
							return err
						}
						if err := AllReduce(ctx, c, []float32{1}, Sum); err != nil {
							return err
						}
						return errSucceeds
					})
					if err := wantMismatch(errs, 0, []string{x.field}); err != nil {
						t.Errorf("%d ranks: %v", size, err)
					}
				})
			}
		}
	}
}
