package fast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

// variant is a call that differs from another one in one respect.
type variant struct {
	what   string
	fields []string // a MismatchError names one of them
	run    func(ctx context.Context, c *Comm, odd int) error
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
	{"primitive", []string{"primitive"}, func(ctx context.Context, c *Comm, odd int) error {
		if c.Rank() == odd {
			return AllGather(ctx, c, make([]int32, someElements))
		}
		return AllReduce(ctx, c, make([]int32, someElements), Sum)
	}, everyone},
	{"type", []string{"type"}, func(ctx context.Context, c *Comm, odd int) error {
		if c.Rank() == odd {
			return AllReduce(ctx, c, make([]float32, someElements), Sum)
		}
		return AllReduce(ctx, c, make([]int32, someElements), Sum)
	}, everyone},
	{"count", []string{"count"}, func(ctx context.Context, c *Comm, odd int) error {
		return AllReduce(ctx, c, make([]int32, fasttest.Unless(c.Rank() == odd, 12, 11)), Sum)
	}, everyone},
	// Who sends to the wrong root is done: the right one finds the sender in its next call, if that has gone on.
	{"root", []string{"root"}, func(ctx context.Context, c *Comm, odd int) error {
		return Reduce(ctx, c, make([]int32, 12), Sum, fasttest.Unless(c.Rank() == odd, 0, 1))
	}, func(rank, _, odd int) bool { return rank == fasttest.Unless(rank == odd, 0, 1) }}, // others have no output
	{"op", []string{"op"}, func(ctx context.Context, c *Comm, odd int) error {
		return AllReduce(ctx, c, make([]int32, 12), fasttest.Unless(c.Rank() == odd, Sum, Max))
	}, everyone},
	{"algorithm", []string{"algorithm"}, func(ctx context.Context, c *Comm, odd int) error {
		return AllReduce(ctx, c, make([]int32, 12), Sum, WithAlgorithm(fasttest.Unless(c.Rank() == odd, "ring", "tree")))
	}, everyone},
	// Nobody has the result of the AllReduce, which the odd rank makes too late.
	{"order", []string{"primitive", "seq"}, func(ctx context.Context, c *Comm, odd int) error {
		calls := []func() error{
			func() error { return AllReduce(ctx, c, make([]int32, someElements), Sum) },
			func() error { return Broadcast(ctx, c, make([]int32, 12), 0) },
		}
		first := fasttest.Unless(c.Rank() == odd, 0, 1)
		if err := calls[first](); err != nil {
			return err
		}
		return calls[1-first]()
	}, everyone},
	{"count of a message", []string{"count"}, func(ctx context.Context, c *Comm, odd int) error {
		switch to := partner(c.Size(), odd); c.Rank() {
		case odd:
			return Send(ctx, c, make([]int32, 12), to)
		case to:
			return Recv(ctx, c, make([]int32, 11), odd)
		}
		return nil
	}, func(rank, size, odd int) bool { return rank == partner(size, odd) }},
	{"a send against a collective", []string{"primitive"}, func(ctx context.Context, c *Comm, odd int) error {
		if c.Rank() == odd {
			return Send(ctx, c, make([]int32, 12), partner(c.Size(), odd))
		}
		return AllReduce(ctx, c, make([]int32, someElements), Sum)
	}, func(rank, _, odd int) bool { return rank != odd }},
	{"a receive against a collective", []string{"primitive"}, func(ctx context.Context, c *Comm, odd int) error {
		if c.Rank() == odd {
			return Recv(ctx, c, make([]int32, 12), partner(c.Size(), odd))
		}
		return AllReduce(ctx, c, make([]int32, someElements), Sum)
	}, everyone},
}

// TestMismatched makes calls that do not match: no rank succeeds whose output depends on one that differs, and the
// ranks that disagree say in what. None of that takes the search for rings that takes time: who disagrees learns of it
// soon.
func TestMismatched(t *testing.T) {
	for _, w := range never.worlds() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			n := fasttest.Tries(t, 20*len(variants), 10_000)
			told, parents := 0, map[int][]*Comm{}
			for size := 2; size <= 8; size++ {
				parents[size] = w.Comms(t, size)
				defer fasttest.CloseAll(t, parents[size])
			}
			for i := range n {
				v, size := variants[i%len(variants)], 2+rand.IntN(7)
				odd := rand.IntN(size)
				all := fasttest.Again(t, parents[size])
				ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
				errs := fasttest.OnAll(all, func(c *Comm) error {
					err := v.run(ctx, c, odd)
					if err == nil && v.fails(c.Rank(), size, odd) {
						return errSucceeds
					}
					for err == nil { // it only sent, or the others do not concern it: it learns of it soon
						err = Barrier(ctx, c)
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
		var m *MismatchError
		switch {
		case errors.As(err, &m):
			var teller *PeerError // whose mismatch it is, if it is another rank's
			if errors.As(err, &teller) && (teller.Rank == odd) == (m.Rank == odd) || teller == nil && (rank == odd) == (m.Rank == odd) {
				return fmt.Errorf("rank %d blames rank %d: %w", rank, m.Rank, err)
			}
			named = named || slices.Contains(fields, m.Field)
		case !errors.Is(err, ErrAborted):
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if !named {
		return fmt.Errorf("no rank names the field: %w", errors.Join(errs...))
	}
	return nil
}
