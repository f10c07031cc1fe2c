// Command pipeline differentiates a network whose layers are on different ranks, by the schedule that is called one
// forward, one backward (Narayanan et al. 2019).
//
//	collrun -n 4 pipeline
//
// A batch is cut into microbatches, which go through the ranks one after the other, and their derivatives come back. A
// rank begins with as many forward passes as there are ranks after it, and then makes a backward pass after each
// forward pass. So it keeps the activations of at most that many microbatches and one more, however many a batch has.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/collgen/collgen/fast"
)

func main() {
	err := fast.Main(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		s := newStage(c.Rank(), c.Size())
		if err := s.batch(ctx, c); err != nil {
			return err
		}
		fmt.Printf("rank %d: off by %.0e from the derivative on one rank; %d of %d microbatches were kept at once\n",
			c.Rank(), difference(s.gradient, alone(c.Size())[c.Rank()]), s.mostKept, microbatches)
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
		os.Exit(1)
	}
}
