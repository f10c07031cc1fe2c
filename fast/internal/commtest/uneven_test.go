package commtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestAllToAllVAppend: every rank gets what the others send it, appended by rank, whatever room there is.
func TestAllToAllVAppend(t *testing.T) {
	for size := 1; size <= 5; size++ {
		for _, room := range []int{0, 2, 100} {
			if err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
				var src []int32
				var to fast.Blocks
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
				got, blocks, err := fast.AllToAllVAppend(ctx, c, append(make([]int32, 0, 1+room), 7), src, to)
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
	if err := fast.Run(t.Context(), 1, func(ctx context.Context, c *fast.Comm) error {
		memory := make([]int32, 8)
		for what, call := range map[string]func() error{
			"counts of two ranks": func() error { return appended(ctx, c, nil, memory[:2], fast.Blocks{Counts: []int{1, 1}}) },
			"a negative count":    func() error { return appended(ctx, c, nil, memory[:0], fast.Blocks{Counts: []int{-1}}) },
			"too few elements":    func() error { return appended(ctx, c, nil, memory[:2], fast.Blocks{Counts: []int{3}}) },
			"one memory": func() error {
				return appended(ctx, c, memory[:4], memory[4:],
					fast.Blocks{Counts: []int{4}})
			},
		} {
			if err := call(); !errors.Is(err, fast.ErrInvalidArgument) {
				t.Errorf("%s: %v", what, err)
			}
		}
		return appended(ctx, c, memory[:4:4], memory[4:], fast.Blocks{Counts: []int{4}})
	}); err != nil {
		t.Error(err)
	}
}

// TestAllToAllVAppendAborts: a rank that is told of counts that cannot be gives the communicator up, for all, and
// blames the rank that told it.
func TestAllToAllVAppendAborts(t *testing.T) {
	part := fast.Option{Kind: exec.PartOption, Part: &exec.Part{Operation: "AllToAllVAppend", Root: -1}}
	for count, liar := range map[int]int{-1: 1, math.MaxInt: 1, exec.MaxScratch/4 + 1: 1, exec.MaxScratch/8 + 1: 2} {
		all := comms(t, 3)
		errs := fasttest.OnAll(all, func(c *fast.Comm) error {
			if c.Rank() > 0 { // they lie
				return errors.Join(fast.AllToAllInto(t.Context(), c, make([]int, 3), []int{count, 0, 0}, part),
					fast.Barrier(t.Context(), c))
			}
			return appended(t.Context(), c, nil, nil, fast.Blocks{Counts: []int{0, 0, 0}})
		})
		for rank, err := range errs {
			var m *fast.MismatchError
			if !errors.As(err, &m) || m.Field != "message length" || rank == 0 &&
				(m.Rank != liar || !errors.Is(err, fast.ErrAborted)) ||
				rank > 0 && !slices.Contains(fast.Culprits(err), 0) {
				t.Errorf("%d elements, rank %d: %v", count, rank, err)
			}
		}
		fasttest.CloseAll(t, all)
	}
}

// TestStartedKeepsBlocks: Counts may change when calls were started, and each call has its own.
func TestStartedKeepsBlocks(t *testing.T) {
	if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		bufs := [][]int32{make([]int32, 5), make([]int32, 5)}
		counts := []int{0, 0}
		var handles []*fast.Handle
		if err := c.Batch(func() error {
			for i, buf := range bufs {
				for j := range buf {
					buf[j] = int32(100*c.Rank() + 10*i + j)
				}
				counts[0], counts[1] = 1+3*i, 4-3*i
				handles = append(handles, fast.StartAllGatherV(ctx, c, buf, fast.Blocks{Counts: counts}))
				counts[0], counts[1] = -1, -1
			}
			return nil
		}); err != nil {
			return err
		}
		for i, want := range [][]int32{{0, 101, 102, 103, 104}, {10, 11, 12, 13, 114}} {
			if err := handles[i].Wait(ctx); err != nil || !slices.Equal(bufs[i], want) {
				return fmt.Errorf("rank %d, call %d: %v, %v, want %v", c.Rank(), i, bufs[i], err, want)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestStartedKeepsBlocksOfInput is TestStartedKeepsBlocks for blocks of src.
func TestStartedKeepsBlocksOfInput(t *testing.T) {
	for _, algorithm := range fast.Algorithms("ReduceScatterV") {
		if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
			lengths := [][]int{{1, 4, 2}, {4, 1, 2}}
			counts := make([]int, 3)
			var dst [2][]int32
			var handles []*fast.Handle
			if err := c.Batch(func() error {
				for i, n := range lengths {
					copy(counts, n)
					dst[i] = make([]int32, n[c.Rank()])
					handles = append(handles, fast.StartReduceScatterVInto(ctx, c, dst[i], []int32{1, 2, 3, 4, 5, 6, 7},
						fast.Blocks{Counts: counts}, fast.Sum, fast.WithAlgorithm(algorithm)))
					copy(counts, []int{-1, -1, -1})
				}
				return nil
			}); err != nil {
				return err
			}
			for i, h := range handles {
				from := []int{0, lengths[i][0], lengths[i][0] + lengths[i][1]}[c.Rank()]
				want := []int32{3, 6, 9, 12, 15, 18, 21}[from:][:len(dst[i])]
				if err := h.Wait(ctx); err != nil || !slices.Equal(dst[i], want) {
					return fmt.Errorf("rank %d, call %d: %v, %v, want %v", c.Rank(), i, dst[i], err, want)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

func appended(ctx context.Context, c *fast.Comm, dst, src []int32, to fast.Blocks) error {
	_, _, err := fast.AllToAllVAppend(ctx, c, dst, src, to)
	return err
}
