package fast_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
)

// Rank r has r elements, and every rank gets all of them.
func ExampleAllGatherV() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		blocks := fast.Blocks{Counts: []int{0, 1, 2, 3}}
		all := make([]int, 6)
		err := fast.AllGatherVInto(ctx, c, all, blocks, slices.Repeat([]int{c.Rank()}, c.Rank()))
		if c.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 2 2 3 3 3]
	// <nil>
}

// The root gets blocks that differ in length. Only the root says how long they are.
func ExampleGatherV() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		var all []int
		var blocks fast.Blocks
		if c.Rank() == 0 {
			all, blocks = make([]int, 6), fast.Blocks{Counts: []int{1, 2, 3}}
		}
		err := fast.GatherVInto(ctx, c, all, blocks, slices.Repeat([]int{c.Rank()}, c.Rank()+1), 0)
		if c.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 1 1 2 2 2]
	// <nil>
}

// Ten elements are dealt out as evenly as possible.
func ExampleScatterV() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		var all []int
		var blocks fast.Blocks
		if c.Rank() == 0 {
			all, blocks = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, fast.Blocks{Counts: []int{4, 3, 3}}
		}
		lo, hi := fast.Shard(10, c.Rank(), c.Size())
		mine := make([]int, hi-lo)
		err := fast.ScatterVInto(ctx, c, mine, all, blocks, 0)
		if c.Rank() == 1 {
			fmt.Println(mine)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [4 5 6]
	// <nil>
}

// Every rank gets its part of a sum, and the parts differ in length. In place, that part of the buffer has the sum.
func ExampleReduceScatterV() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		x := []int{1, 10, 100, 1000}
		err := fast.ReduceScatterV(ctx, c, x, fast.Blocks{Counts: []int{2, 1, 1}}, fast.Sum)
		if c.Rank() == 0 {
			fmt.Println(x[:2])
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [3 30]
	// <nil>
}

// Rank r sends one element to rank 0, and r elements to rank 1. All know how much they get.
func ExampleAllToAllV() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		src := slices.Repeat([]int{c.Rank()}, 1+c.Rank())
		to := fast.Blocks{Counts: []int{1, c.Rank()}}
		from := fast.Blocks{Counts: [][]int{{1, 1}, {0, 1}}[c.Rank()]}
		dst := make([]int, 2-c.Rank())
		err := fast.AllToAllV(ctx, c, dst, from, src, to)
		if c.Rank() == 0 {
			fmt.Println(dst)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 1]
	// <nil>
}
