package neighbor_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/neighbor"
)

// Six ranks on a grid of two rows and three columns, whose rows are rings, tell their neighbours who they are.
func Example() {
	var of4 []int
	err := fast.Run(context.Background(), 6, func(ctx context.Context, c *fast.Comm) error {
		grid, err := neighbor.NewGrid(ctx, c, []int{2, 3}, []bool{false, true})
		if err != nil {
			return err
		}
		halo := []int{-1, -1, -1, -1} // of the row below and above, and of the column below and above
		err = neighbor.AllGather(ctx, grid.Graph, halo, []int{c.Rank()})
		if c.Rank() == 4 {
			of4 = halo
		}
		return err
	})
	fmt.Println(of4, err)
	// Output: [1 -1 3 5] <nil>
}
