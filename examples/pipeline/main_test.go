package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestPipeline: the derivatives are those of one rank, and no rank keeps more microbatches than there are ranks from it
// on.
func TestPipeline(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 14} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			want := alone(size)
			err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
				s := newStage(c.Rank(), size)
				if err := s.batch(ctx, c); err != nil {
					return err
				}
				if off := difference(s.gradient, want[c.Rank()]); off > 1e-12 {
					return fmt.Errorf("rank %d is off by %g", c.Rank(), off)
				}
				if most := min(size-c.Rank(), microbatches); s.mostKept != most {
					return fmt.Errorf("rank %d has kept %d microbatches, want %d", c.Rank(), s.mostKept, most)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAlone: the derivative is that of the loss.
func TestAlone(t *testing.T) {
	const layers, step = 2, 1e-6
	loss := func(change float64) (sum float64) {
		first, second := newStage(0, layers), newStage(1, layers)
		first.weights[3] += change
		for i := range microbatches {
			for _, y := range second.apply(first.apply(input(i))) {
				sum += y * y / 2
			}
		}
		return sum
	}
	got, want := alone(layers)[0][3], (loss(step)-loss(-step))/(2*step)
	if d := got - want; d > 1e-6 || d < -1e-6 || want == 0 {
		t.Errorf("%g, want %g", got, want)
	}
}
