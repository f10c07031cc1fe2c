package fast

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/inproc"
)

// mixedComms are communicators over two transports each: near among the ranks of each of hosts, far among all.
func mixedComms(hosts [][]int) []*Comm {
	size := 0
	for _, ranks := range hosts {
		size += len(ranks)
	}
	far, all := inproc.New(size), make([]*Comm, size)
	for _, ranks := range hosts {
		for i, near := range inproc.New(len(ranks)) {
			all[ranks[i]] = newComm(ranks[i], size, newMixed(size, ranks, near, far[ranks[i]]))
		}
	}
	return all
}

// TestMixedIsOne: ranks on several hosts, in any order, are one communicator.
func TestMixedIsOne(t *testing.T) {
	for _, hosts := range [][][]int{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{4, 1}, {0, 2, 3}}, {{0, 1, 2}, {3}}} {
		errs := onAll(mixedComms(hosts), func(c *Comm) error {
			defer c.Close()
			for _, count := range []int{0, 1, 5, 10_000} {
				for _, algorithm := range []string{"ring", "one-shot", "tree", "recursive-doubling"} {
					buf := slices.Repeat([]int{c.Rank() + 1}, count)
					if err := AllReduce(t.Context(), c, buf, Sum, WithAlgorithm(algorithm)); err != nil {
						return err
					}
					if want := c.Size() * (c.Size() + 1) / 2; count > 0 && (buf[0] != want || buf[count-1] != want) {
						t.Errorf("%v, %s: %v, want %d", hosts, algorithm, buf[0], want)
					}
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%v: %v", hosts, err)
		}
	}
}

// TestMixedTranslates the ranks in the errors of both halves.
func TestMixedTranslates(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	all := mixedComms([][]int{{3, 1}, {0, 2}})
	errs := onAll(all, func(c *Comm) error {
		if c.Rank() != 3 {
			<-ctx.Done()
			return nil
		}
		return AllGatherInto(ctx, c, make([]byte, 4), make([]byte, 1), WithAlgorithm("direct"))
	})
	var timeout *TimeoutError
	if !errors.As(errs[3], &timeout) || !slices.Equal(timeout.Waiting, []int{0, 1, 2}) {
		t.Errorf("the one that waits: %v", errs[3])
	}

	ctx, stop := context.WithCancel(t.Context())
	errs = onAll(mixedComms([][]int{{2, 0}, {1}}), func(c *Comm) error {
		defer stop() // there is no control plane that would tell the others
		buf := make([]byte, 8)
		if c.Rank() == 2 {
			buf = buf[:7]
		}
		return Broadcast(ctx, c, buf, 0)
	})
	var mismatch *MismatchError
	if !errors.As(errs[2], &mismatch) || mismatch.Rank != 0 || mismatch.Field != "count" {
		t.Errorf("the one that differs: %v", errs[2])
	}
}

// TestMixedFails: what fast gives to Fail comes out of both halves, in its own ranks, and one half's failure ends the
// other.
func TestMixedFails(t *testing.T) {
	given := &PeerError{Rank: 3, Err: ErrDied}
	for _, sends := range []string{"direct", "ring"} {
		all := mixedComms([][]int{{3, 1}, {0, 2}})
		errs := onAll(all[:3], func(c *Comm) error {
			time.AfterFunc(5*time.Millisecond, func() { c.transport.Fail(given) })
			return AllGather(t.Context(), c, make([]byte, 4), WithAlgorithm(sends))
		})
		for rank, err := range errs {
			if !errors.Is(err, given) {
				t.Errorf("%s, rank %d: %v", sends, rank, err)
			}
		}
	}
}
