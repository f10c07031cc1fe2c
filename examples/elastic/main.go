// Command elastic trains on, when a rank has died, with those that are left.
//
//	collrun -survive -n 4 elastic
//
// Ranks share the samples, and sum their gradients in each step. Rank 1 dies on the way. The others learn of it in
// their call, make a communicator without it, agree on the last step that all of them have made, go back to that, and
// divide the samples anew. Since no sample is lost, the result is what one rank alone would have got, up to rounding.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/collgen/collgen/fast"
)

func main() {
	dies := flag.Int("dies", 1, "the `rank` that dies; -1: none")
	at := flag.Int("at", 20, "the `step` in which it does")
	flag.Parse()
	err := fast.Main(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		t := newTraining(c, os.Stdout)
		if t.rank == *dies {
			t.diesAt = *at
		}
		over, err := t.run(ctx)
		if !over || err != nil {
			return err
		}
		fmt.Printf("rank %d: off by %.0e from training alone\n", t.rank, difference(t.weights, alone()))
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "elastic:", err)
		os.Exit(1)
	}
}
