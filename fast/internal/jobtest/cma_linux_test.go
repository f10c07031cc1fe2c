package jobtest

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
)

// TestWithoutCMA: the results are the same if one rank is secluded, or all are.
func TestWithoutCMA(t *testing.T) {
	n := fasttest.Tries(t, 15, 40)
	for _, secluded := range []int{1, 3} {
		all := meet(t, 3, func(rank int) []fast.InitOption {
			if rank < secluded {
				return []fast.InitOption{fast.WithTransport("shm"), fast.WithoutCMA()}
			}
			return []fast.InitOption{fast.WithTransport("shm")}
		})
		if err := errors.Join(fasttest.OnAll(all, func(c *fast.Comm) error {
			for seed := range n { // ranks find out after some messages whom they can read
				for _, op := range operation.All {
					if err := op.Run(t.Context(), c, 70_000, seed); err != nil {
						return err
					}
				}
			}
			return nil
		})...); err != nil {
			t.Error(err)
		}
		fasttest.CloseAll(t, all)
	}
}

// meet returns ranks of this process that Init connects, each with its options.
func meet(t testing.TB, size int, opts func(rank int) []fast.InitOption) []*fast.Comm {
	t.Helper()
	meeting := fast.NewMemoryStore()
	return fasttest.Begin(t, size, func(rank int) (*fast.Comm, error) {
		return fast.Init(t.Context(), append(opts(rank), fast.WithRank(rank, size), fast.WithStore(meeting))...)
	})
}
