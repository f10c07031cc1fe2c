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

// Rank 0 sends to ranks 1 and 2, an element to the first and two to the second.
func ExampleNewGraph() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		sources, destinations := []int{0}, []int(nil)
		if c.Rank() == 0 {
			sources, destinations = nil, []int{1, 2}
		}
		g, err := neighbor.NewGraph(ctx, c, sources, destinations)
		if err != nil {
			return err
		}
		var src, dst []int
		var in, out fast.Blocks
		if c.Rank() == 0 {
			src, out = []int{5, 6, 7}, fast.Blocks{Counts: []int{1, 2}}
		} else {
			dst, in = make([]int, c.Rank()), fast.Blocks{Counts: []int{c.Rank()}}
		}
		err = neighbor.AllToAllV(ctx, g, dst, in, src, out)
		if c.Rank() == 2 {
			fmt.Println(dst)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [6 7]
	// <nil>
}

// On a ring, each rank sends one element to the rank before it, and another one to the rank after it.
func ExampleAllToAll() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		ring, err := neighbor.NewGrid(ctx, c, neighbor.Dims(c.Size(), 1), []bool{true})
		if err != nil {
			return err
		}
		rim := make([]int, 2)
		err = neighbor.AllToAll(ctx, ring.Graph, rim, []int{10 * c.Rank(), 10*c.Rank() + 1})
		if c.Rank() == 0 {
			below, above := ring.Shift(0, 1)
			fmt.Println(below, above, rim)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 3 1 [31 10]
	// <nil>
}
