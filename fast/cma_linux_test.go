package fast

import (
	"errors"
	"testing"
)

// TestWithoutCMA: the results are the same if one rank is secluded, or all are.
func TestWithoutCMA(t *testing.T) {
	n := tries(t, 15, 40)
	for _, secluded := range []int{1, 3} {
		all := begin(t, 3, secludedUpTo(t, secluded))
		if err := errors.Join(onAll(all, func(c *Comm) error {
			for seed := range n { // ranks find out after some messages whom they can read
				for _, op := range operations {
					if err := op.run(t.Context(), c, 70_000, seed); err != nil {
						return err
					}
				}
			}
			return nil
		})...); err != nil {
			t.Error(err)
		}
		closeAll(t, all)
	}
}

// secludedUpTo returns ranks of 3 that meet, of which the first n are secluded.
func secludedUpTo(t *testing.T, n int) func(rank int) (*Comm, error) {
	meeting := NewMemoryStore()
	return func(rank int) (*Comm, error) {
		opts := []InitOption{WithRank(rank, 3), WithStore(meeting), WithTransport("shm")}
		if rank < n {
			opts = append(opts, WithoutCMA())
		}
		return Init(t.Context(), opts...)
	}
}
