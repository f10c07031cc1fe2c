package fast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// variant is a call that differs from another one in one respect.
type variant struct {
	field string // as a MismatchError names it
	run   func(ctx context.Context, c *Comm, odd bool) (out []int32, err error)
}

// variants are calls in which one rank, the odd one, differs from the others.
var variants = []variant{
	{"primitive", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) {
		buf := make([]int32, 12)
		if odd {
			return buf, AllGather(ctx, c, buf)
		}
		return buf, AllReduce(ctx, c, buf, Sum)
	}},
	{"type", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) {
		buf := make([]int32, 12)
		if odd {
			return nil, AllReduce(ctx, c, make([]float32, 12), Sum)
		}
		return buf, AllReduce(ctx, c, buf, Sum)
	}},
	{"count", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) {
		buf := make([]int32, 12)
		if odd {
			buf = buf[:11]
		}
		return buf, AllReduce(ctx, c, buf, Sum)
	}},
	{"root", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) {
		buf, root := make([]int32, 12), 0
		if odd {
			root = 1
		}
		return buf, Reduce(ctx, c, buf, Sum, root)
	}},
	{"op", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) {
		buf, op := make([]int32, 12), Sum
		if odd {
			op = Max
		}
		return buf, AllReduce(ctx, c, buf, op)
	}},
	{"algorithm", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) {
		buf, name := make([]int32, 12), "ring"
		if odd {
			name = "tree"
		}
		return buf, AllReduce(ctx, c, buf, Sum, WithAlgorithm(name))
	}},
	{"primitive", func(ctx context.Context, c *Comm, odd bool) ([]int32, error) { // the order of two calls
		first, second := make([]int32, 12), make([]int32, 12)
		if odd {
			first, second = second, first
			if err := Broadcast(ctx, c, second, 0); err != nil {
				return nil, err
			}
			return first, AllReduce(ctx, c, first, Sum)
		}
		if err := AllReduce(ctx, c, first, Sum); err != nil {
			return nil, err
		}
		return second, Broadcast(ctx, c, second, 0)
	}},
}

// TestMismatched makes calls that do not match: on no rank comes an output as that of a success which depends on one that
// differs, and the ranks that disagree say in what.
func TestMismatched(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			usual := 1000
			if w.name == "goroutines" { // which are quick
				usual = 6000
			}
			n := tries(t, usual, 10_000)
			told, parents := 0, map[int][]*Comm{}
			for size := 2; size <= 4; size++ {
				parents[size] = w.comms(t, size)
				defer closeAll(t, parents[size])
			}
			for i := range n {
				v, size := variants[i%len(variants)], 2+rand.IntN(3)
				odd := rand.IntN(size)
				all := again(t, parents[size])
				errs := onAll(all, func(c *Comm) error {
					_, err := v.run(t.Context(), c, c.Rank() == odd)
					for err == nil { // it only sent, or the others do not concern it: it learns of it soon
						err = Barrier(t.Context(), c)
					}
					return err
				})
				if err := wantMismatch(errs, odd, v.field); err != nil {
					t.Errorf("try %d, %s, rank %d of %d is odd: %v", i, v.field, odd, size, err)
				} else {
					told++
				}
				closeAll(t, all)
			}
			t.Logf("%d tries, %d detected", n, told)
		})
	}
}

// wantMismatch says what is wrong with the errors of all ranks, of which one was odd.
func wantMismatch(errs []error, odd int, field string) error {
	named := false
	for rank, err := range errs {
		var m *MismatchError
		switch {
		case err == nil:
			return fmt.Errorf("rank %d succeeds", rank)
		case errors.As(err, &m):
			if rank != odd && m.Rank != odd {
				return fmt.Errorf("rank %d blames rank %d: %w", rank, m.Rank, err)
			}
			named = named || m.Field == field || m.Field == "primitive" || m.Field == "seq"
		case !errors.Is(err, ErrAborted):
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if !named {
		return fmt.Errorf("no rank names the field: %w", errors.Join(errs...))
	}
	return nil
}
