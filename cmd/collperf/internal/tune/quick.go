package tune

import (
	"context"
	"slices"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/fast"
)

// A quick measurement goes on, after some turns, with the variants that take at most so many times as long as the
// fastest one, and ends after some time.
const (
	quickTurns   = 3
	quickFactor  = 1.3
	quickAtPoint = 300 * time.Millisecond
)

// inOrder returns the numbers below n.
func inOrder(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// promising returns which of the variants that are left are measured further, the same ones on all ranks: none if one
// of the ranks has measured for long enough.
func (s *session) promising(ctx context.Context, left []int, took []bench.Times, spent time.Duration) ([]int, error) {
	medians := make([]float64, 1+len(left))
	if spent > quickAtPoint {
		medians[0] = 1
	}
	for k, i := range left {
		times := slices.Clone(took[i])
		slices.Sort(times)
		medians[1+k] = times.Median()
	}
	if err := fast.AllReduce(ctx, s.comm, medians, fast.Max); err != nil || medians[0] > 0 {
		return nil, err
	}
	medians = medians[1:]
	return slices.DeleteFunc(slices.Clone(left), func(i int) bool {
		return medians[slices.Index(left, i)] > quickFactor*slices.Min(medians)
	}), nil
}
