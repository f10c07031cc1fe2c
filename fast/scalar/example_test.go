package scalar_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/scalar"
)

// The mean loss of all ranks, and how many samples they have in all.
func ExampleAllReduce() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		loss, err := scalar.AllReduce(ctx, c, 0.5*float64(c.Rank()), fast.Avg)
		if err != nil {
			return err
		}
		samples, err := scalar.Sum(ctx, c, 100+c.Rank())
		if c.Rank() == 3 {
			fmt.Println(loss, samples)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 0.75 406
	// <nil>
}

// A training ends when all ranks are content, and stops when any of them cannot go on.
func ExampleAll() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		content, err := scalar.All(ctx, c, c.Rank() != 1)
		if err != nil {
			return err
		}
		stop, err := scalar.Any(ctx, c, c.Rank() == 1)
		if c.Rank() == 0 {
			fmt.Println(content, stop)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// false true
	// <nil>
}

// Each rank writes its records behind those of the ranks before it.
func ExampleExscan() {
	records := []int{3, 0, 5, 1}
	err := fast.Run(context.Background(), len(records), func(ctx context.Context, c *fast.Comm) error {
		begin, err := scalar.Exscan(ctx, c, records[c.Rank()], fast.Sum)
		if err != nil {
			return err
		}
		begins, err := scalar.Gather(ctx, c, begin, 0)
		if c.Rank() == 0 {
			fmt.Println(begins)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 3 3 8]
	// <nil>
}

// Each rank learns where its records end, and where those of all ranks do.
func ExampleScan() {
	records := []int{3, 0, 5, 1}
	err := fast.Run(context.Background(), len(records), func(ctx context.Context, c *fast.Comm) error {
		end, err := scalar.Scan(ctx, c, records[c.Rank()], fast.Sum)
		if err != nil {
			return err
		}
		ends, err := scalar.AllGather(ctx, c, end)
		if err != nil {
			return err
		}
		fewest, err := scalar.Min(ctx, c, records[c.Rank()])
		if c.Rank() == 2 {
			fmt.Println(ends, fewest)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [3 3 8 9] 0
	// <nil>
}

// The rank with the best score hands its parameters to the others.
func ExampleArgMax() {
	scores := []float64{0.7, 0.9, 0.8}
	err := fast.Run(context.Background(), len(scores), func(ctx context.Context, c *fast.Comm) error {
		params := []float32{float32(c.Rank()), 1}
		score, best, err := scalar.ArgMax(ctx, c, scores[c.Rank()])
		if err != nil {
			return err
		}
		err = fast.Broadcast(ctx, c, params, best)
		if c.Rank() == 0 {
			fmt.Println(score, best, params)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 0.9 1 [1 1]
	// <nil>
}

// Rank 0 draws a seed, and all ranks go on with it. Then they compare how long they took.
func ExampleBroadcast() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		seed, err := scalar.Broadcast(ctx, c, uint64(42+c.Rank()), 0)
		if err != nil {
			return err
		}
		seconds := 1 + 0.5*float64(c.Rank())
		longest, err := scalar.Max(ctx, c, seconds)
		if err != nil {
			return err
		}
		shortest, first, err := scalar.ArgMin(ctx, c, seconds)
		if c.Rank() == 2 {
			fmt.Println(seed, longest, shortest, first)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 42 2 1 0
	// <nil>
}
