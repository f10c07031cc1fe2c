package fast_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
)

// Experts are on all ranks, one on each. A rank sends each of its tokens to the expert that a router chose, which does
// not know how many come, and gets them back. Order is the tokens by their expert.
func ExampleAllToAllVAppend() {
	dispatch := func(ctx context.Context, c *fast.Comm, tokens [][]float32, expert, order []int) error {
		buf, sent := []float32(nil), fast.Blocks{Counts: make([]int, c.Size())}
		for _, id := range order {
			buf = append(buf, tokens[id]...)
			sent.Counts[expert[id]] += len(tokens[id])
		}
		mine, got, err := fast.AllToAllVAppend(ctx, c, nil, buf, sent)
		if err != nil {
			return err
		}
		for i := range mine {
			mine[i] *= float32(c.Rank() + 1) // the expert
		}
		err = fast.AllToAllV(ctx, c, buf, sent, mine, got)
		for _, id := range order {
			buf = buf[copy(tokens[id], buf):]
		}
		return err
	}
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		tokens := [][]float32{{1, 2}, {3, 4}, {5, 6}, {7, 8}}
		err := dispatch(ctx, c, tokens, []int{2, 2, 2, 0}, []int{3, 0, 1, 2})
		if c.Rank() == 1 {
			fmt.Println(tokens)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [[3 6] [9 12] [15 18] [7 8]]
	// <nil>
}

// A step of an optimizer whose state is divided among the ranks, as in ZeRO: each rank has the momentum of its shard of
// the parameters, and updates that alone.
func Example_shardedOptimizer() {
	step := func(ctx context.Context, c *fast.Comm, params, grad, momentum []float32, shards fast.Blocks) error {
		if err := fast.ReduceScatterV(ctx, c, grad, shards, fast.Avg); err != nil {
			return err
		}
		lo, hi := fast.Shard(len(params), c.Rank(), c.Size())
		for i := lo; i < hi; i++ {
			momentum[i-lo] = 0.5*momentum[i-lo] + grad[i]
			params[i] -= 0.1 * momentum[i-lo]
		}
		return fast.AllGatherV(ctx, c, params, shards)
	}
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		params := []float32{1, 2, 3, 4, 5}
		shards := fast.Blocks{Counts: make([]int, c.Size())}
		for r := range shards.Counts {
			lo, hi := fast.Shard(len(params), r, c.Size())
			shards.Counts[r] = hi - lo
		}
		momentum := make([]float32, shards.Counts[c.Rank()])
		for range 2 {
			grad := []float32{10, 20, 30, 40, float32(c.Rank())}
			if err := step(ctx, c, params, grad, momentum, shards); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			fmt.Println(params)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [-1.5 -3 -4.5 -6 4.75]
	// <nil>
}
