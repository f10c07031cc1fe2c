// Command experts sends tokens to experts on other ranks and back, as a mixture of experts does (Shazeer et al. 2017).
//
//	collrun -n 4 experts
//
// Each rank has one expert and some tokens. A router picks an expert for each token, so ranks send each other uneven
// numbers of them, which change from step to step: AllToAllVAppend tells the receivers how many, and makes room. The
// way back has the same numbers, and needs AllToAllV alone.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/collgen/collgen/fast"
)

func main() {
	err := fast.Main(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		m := newMixture(c)
		for step := range uint64(3) {
			x := m.tokens(step)
			y, loads, err := m.forward(ctx, x)
			if err != nil {
				return err
			}
			if wrong := m.check(x, y); wrong > 0 {
				return fmt.Errorf("rank %d: %d of %d tokens have another result than on one rank", c.Rank(), wrong, len(x)/width)
			}
			if c.Rank() == 0 {
				fmt.Printf("step %d: the experts got %v tokens\n", step, loads)
			}
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "experts:", err)
		os.Exit(1)
	}
}
