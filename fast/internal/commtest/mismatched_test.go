package commtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// variant is a call that differs from another one in one respect.
type variant struct {
	what   string
	fields []string // a MismatchError names one of them
	run    func(ctx context.Context, c *fast.Comm, odd int) error
	// fails tells whether the rank cannot succeed: its output depends on a rank whose call differs.
	fails func(rank, size, odd int) bool
}

func everyone(int, int, int) bool { return true }

// someElements is a multiple of all sizes.
const someElements = 840

// partner returns the rank with which the odd one exchanges a message.
func partner(size, odd int) int { return (odd + 1) % size }

// variants are calls in which one rank, the odd one, differs from the others.
var variants = []variant{
	{"primitive", []string{"primitive"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			return fast.AllGather(ctx, c, make([]int32, someElements))
		}
		return fast.AllReduce(ctx, c, make([]int32, someElements), fast.Sum)
	}, everyone},
	{"type", []string{"type"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			return fast.AllReduce(ctx, c, make([]float32, someElements), fast.Sum)
		}
		return fast.AllReduce(ctx, c, make([]int32, someElements), fast.Sum)
	}, everyone},
	{"count", []string{"count"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		return fast.AllReduce(ctx, c, make([]int32, fasttest.Unless(c.Rank() == odd, 12, 11)), fast.Sum)
	}, everyone},
	// Who sends to the wrong root is done: the right one finds the sender in its next call, if that has gone on.
	{"root", []string{"root"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		return fast.Reduce(ctx, c, make([]int32, 12), fast.Sum, fasttest.Unless(c.Rank() == odd, 0, 1))
	}, func(rank, _, odd int) bool { return rank == fasttest.Unless(rank == odd, 0, 1) }}, // others have no output
	{"op", []string{"op"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		return fast.AllReduce(ctx, c, make([]int32, 12), fasttest.Unless(c.Rank() == odd, fast.Sum, fast.Max))
	}, everyone},
	{"algorithm", []string{"algorithm"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		return fast.AllReduce(ctx, c, make([]int32, 12), fast.Sum,
			fast.WithAlgorithm(fasttest.Unless(c.Rank() == odd, "ring", "tree")))
	}, everyone},
	// Nobody has the result of the AllReduce, which the odd rank makes too late.
	{"order", []string{"primitive", "seq"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		calls := []func() error{
			func() error { return fast.AllReduce(ctx, c, make([]int32, someElements), fast.Sum) },
			func() error { return fast.Broadcast(ctx, c, make([]int32, 12), 0) },
		}
		first := fasttest.Unless(c.Rank() == odd, 0, 1)
		if err := calls[first](); err != nil {
			return err
		}
		return calls[1-first]()
	}, everyone},
	{"count of a message", []string{"count"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		switch to := partner(c.Size(), odd); c.Rank() {
		case odd:
			return fast.Send(ctx, c, make([]int32, 12), to)
		case to:
			return fast.Recv(ctx, c, make([]int32, 11), odd)
		}
		return nil
	}, func(rank, size, odd int) bool { return rank == partner(size, odd) }},
	{"a send against a collective", []string{"primitive"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			return fast.Send(ctx, c, make([]int32, 12), partner(c.Size(), odd))
		}
		return fast.AllReduce(ctx, c, make([]int32, someElements), fast.Sum)
	}, func(rank, _, odd int) bool { return rank != odd }},
	{"lengths of blocks", []string{"lengths"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		b := fast.Blocks{Counts: make([]int, c.Size())}
		b.Counts[fasttest.Unless(c.Rank() == odd, 0, 1)] = 12
		return fast.AllGatherV(ctx, c, make([]int32, 12), b)
	}, func(rank, _, odd int) bool { return rank != odd }},
	// The odd rank and its partner disagree about the block from the one to the other.
	{"length of a block", []string{"message length"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		to, from := fast.Blocks{Counts: make([]int, c.Size())}, fast.Blocks{Counts: make([]int, c.Size())}
		switch other := partner(c.Size(), odd); c.Rank() {
		case odd:
			from.Counts[other] = 12
			return fast.AllToAllV(ctx, c, []int32{}, to, make([]int32, 12), from)
		case other:
			to.Counts[odd] = 11
			return fast.AllToAllV(ctx, c, make([]int32, 11), to, []int32{}, from)
		}
		return fast.AllToAllV(ctx, c, []int32{}, to, []int32{}, from)
	}, func(rank, size, odd int) bool { return rank == partner(size, odd) }},
	{"a receive against a collective", []string{"primitive"}, func(ctx context.Context, c *fast.Comm, odd int) error {
		if c.Rank() == odd {
			return fast.Recv(ctx, c, make([]int32, 12), partner(c.Size(), odd))
		}
		return fast.AllReduce(ctx, c, make([]int32, someElements), fast.Sum)
	}, everyone},
}

// TestMismatched makes calls that do not match: no rank succeeds whose output depends on one that differs, and the
// ranks that disagree say in what. None of that takes the search for rings that takes time: who disagrees learns of it
// soon.
func TestMismatched(t *testing.T) {
	for _, w := range fasttest.Worlds(fast.Init, within(never)) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			n := fasttest.Tries(t, 20*len(variants), 10_000)
			told, parents := 0, map[int][]*fast.Comm{}
			for size := 2; size <= 8; size++ {
				parents[size] = w.Comms(t, size)
				defer fasttest.CloseAll(t, parents[size])
			}
			for i := range n {
				v, size := variants[i%len(variants)], 2+rand.IntN(7)
				odd := rand.IntN(size)
				all := fasttest.Again(t, parents[size])
				ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
				errs := fasttest.OnAll(all, func(c *fast.Comm) error {
					err := v.run(ctx, c, odd)
					if err == nil && v.fails(c.Rank(), size, odd) {
						return errSucceeds
					}
					for err == nil { // it only sent, or the others do not concern it: it learns of it soon
						err = fast.Barrier(ctx, c)
					}
					return err
				})
				if err := wantMismatch(errs, odd, v.fields); err != nil {
					t.Errorf("try %d, %s, rank %d of %d is odd: %v", i, v.what, odd, size, err)
				} else {
					told++
				}
				fasttest.CloseAll(t, all)
				cancel()
			}
			t.Logf("%d tries, %d detected", n, told)
		})
	}
}

var errSucceeds = errors.New("succeeds, although a rank on which its output depends made another call")

// wantMismatch says what is wrong with the errors of all ranks, of which one was odd.
func wantMismatch(errs []error, odd int, fields []string) error {
	named := false
	for rank, err := range errs {
		var m *fast.MismatchError
		switch {
		case errors.As(err, &m):
			var teller *fast.PeerError // whose mismatch it is, if it is another rank's
			if errors.As(err, &teller) && (teller.Rank == odd) == (m.Rank == odd) || teller == nil &&
				(rank == odd) == (m.Rank == odd) {
				return fmt.Errorf("rank %d blames rank %d: %w", rank, m.Rank, err)
			}
			named = named || slices.Contains(fields, m.Field)
		case !errors.Is(err, fast.ErrAborted):
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if !named {
		return fmt.Errorf("no rank names the field: %w", errors.Join(errs...))
	}
	return nil
}

// TestWithinMatchesNothingElse: what Split, Dup and Alloc send inside is not taken for the call of a user that is the
// same otherwise, nor for each other. All ranks fail, and somebody says which two operations met.
func TestWithinMatchesNothingElse(t *testing.T) {
	const splitFields = 3 // Split gathers a color, a key and a random number of each rank
	gather := func(ctx context.Context, c *fast.Comm) error {
		return fast.AllGatherInto(ctx, c, make([]int64, splitFields*c.Size()), make([]int64, splitFields))
	}
	split := func(ctx context.Context, c *fast.Comm) error { _, err := c.Split(ctx, 1, 0); return err }
	dup := func(ctx context.Context, c *fast.Comm) error { _, err := c.Dup(ctx); return err }
	alloc := func(ctx context.Context, c *fast.Comm) error { _, err := fast.Alloc[int64](ctx, c, 3); return err }
	for _, x := range []struct {
		names [2]string // as the error has them
		calls [2]func(ctx context.Context, c *fast.Comm) error
	}{
		{[2]string{"AllGather", "Split"}, [2]func(ctx context.Context, c *fast.Comm) error{gather, split}},
		{[2]string{"AllGather", "Dup"}, [2]func(ctx context.Context, c *fast.Comm) error{gather, dup}},
		{[2]string{"Dup", "Split"}, [2]func(ctx context.Context, c *fast.Comm) error{dup, split}},
		{[2]string{"Barrier", "Alloc"}, [2]func(ctx context.Context, c *fast.Comm) error{barrierCall, alloc}},
	} {
		for _, w := range worlds {
			for _, size := range []int{2, 3, 5} {
				for odd := range 2 {
					t.Run(strings.Join(x.names[:], "/")+"/"+w.Name, func(t *testing.T) {
						all := w.Comms(t, size)
						defer fasttest.CloseAll(t, all)
						ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
						defer cancel()
						errs := fasttest.OnAll(all, func(c *fast.Comm) error {
							return x.calls[fasttest.Unless(c.Rank() == odd, 0, 1)](ctx,
								c)
						})
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
func barrierCall(ctx context.Context, c *fast.Comm) error { return fast.Barrier(ctx, c) }

// TestLaterCallsKnowOfEarlierOnes: ranks disagreed in a call that had no message for some of them. None of them
// succeeds in the next one, although all agree on that: there every rank has something of every other one. Those that
// are told say what differed.
func TestLaterCallsKnowOfEarlierOnes(t *testing.T) {
	for what, x := range map[string]struct {
		first func(ctx context.Context, c *fast.Comm) error
		field string
	}{
		"receivers of nothing": {func(ctx context.Context, c *fast.Comm) error {
			return fast.Broadcast(ctx, c, make([]float32, fasttest.Unless(c.Rank() == 0, 0, 4)), 0)
		}, "count"},
		"two calls of nothing": {func(ctx context.Context, c *fast.Comm) error {
			if c.Rank() == 0 {
				return fast.Gather(ctx, c, []float32{}, 0)
			}
			return fast.Broadcast(ctx, c, []float32{}, 0)
		}, "primitive"},
	} {
		for _, w := range worlds {
			for _, size := range []int{2, 3, 5} {
				t.Run(what+"/"+w.Name, func(t *testing.T) {
					all := w.Comms(t, size)
					defer fasttest.CloseAll(t, all)
					ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
					defer cancel()
					errs := fasttest.OnAll(all, func(c *fast.Comm) error {
						if err := x.first(ctx, c); err != nil {
							return err
						}
						if err := fast.AllReduce(ctx, c, []float32{1}, fast.Sum); err != nil {
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
