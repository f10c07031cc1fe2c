package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestAllToAllVAppend: every rank gets what the others send it, appended by rank, whatever room there is.
func TestAllToAllVAppend(t *testing.T) {
	for size := 1; size <= 5; size++ {
		for _, room := range []int{0, 2, 100} {
			if err := Run(t.Context(), size, func(ctx context.Context, c *Comm) error {
				var src []int32
				var to Blocks
				want, wantCounts := []int32{7}, []int(nil)
				for r := range size {
					to.Counts = append(to.Counts, (c.Rank()+2*r)%3)
					for i := range (c.Rank() + 2*r) % 3 {
						src = append(src, int32(100*c.Rank()+10*r+i))
					}
					wantCounts = append(wantCounts, (r+2*c.Rank())%3)
					for i := range (r + 2*c.Rank()) % 3 {
						want = append(want, int32(100*r+10*c.Rank()+i))
					}
				}
				got, blocks, err := AllToAllVAppend(ctx, c, append(make([]int32, 0, 1+room), 7), src, to)
				if err != nil || !slices.Equal(got, want) || !slices.Equal(blocks.Counts, wantCounts) {
					return fmt.Errorf("rank %d: %v of %v, %v, want %v of %v", c.Rank(), got, blocks, err, want, wantCounts)
				}
				return nil
			}); err != nil {
				t.Errorf("%d ranks, room for %d: %v", size, room, err)
			}
		}
	}
}

// TestAllToAllVAppendRefuses: before anything is sent, so that the communicator stays healthy.
func TestAllToAllVAppendRefuses(t *testing.T) {
	if err := Run(t.Context(), 1, func(ctx context.Context, c *Comm) error {
		memory := make([]int32, 8)
		for what, call := range map[string]func() error{
			"counts of two ranks": func() error { return appended(ctx, c, nil, memory[:2], Blocks{Counts: []int{1, 1}}) },
			"a negative count":    func() error { return appended(ctx, c, nil, memory[:0], Blocks{Counts: []int{-1}}) },
			"too few elements":    func() error { return appended(ctx, c, nil, memory[:2], Blocks{Counts: []int{3}}) },
			"one memory":          func() error { return appended(ctx, c, memory[:4], memory[4:], Blocks{Counts: []int{4}}) },
		} {
			if err := call(); !errors.Is(err, ErrInvalidArgument) {
				t.Errorf("%s: %v", what, err)
			}
		}
		return appended(ctx, c, memory[:4:4], memory[4:], Blocks{Counts: []int{4}})
	}); err != nil {
		t.Error(err)
	}
}

func appended(ctx context.Context, c *Comm, dst, src []int32, to Blocks) error {
	_, _, err := AllToAllVAppend(ctx, c, dst, src, to)
	return err
}
