package hosts_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/hosts"
	"github.com/collgen/collgen/fast/quantized"
)

// Ranks sum up their gradients. The goroutines of fast.Run are on one host. Processes of several hosts, which fast.Init
// connects, call the same: then each host sends only sums.
func Example() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		h, err := hosts.New(ctx, c)
		if err != nil {
			return err
		}
		defer h.Close()
		grad := []float32{1, float32(c.Rank())}
		err = hosts.AllReduce(ctx, h, grad, fast.Avg)
		if c.Rank() == 0 {
			fmt.Println(grad)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 1.5]
	// <nil>
}

// The calls have the names and buffers of those of package fast.
func Example_calls() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		h, err := hosts.New(ctx, c)
		if err != nil {
			return err
		}
		defer h.Close()
		rank := c.Rank()
		params, count := []int{7 * rank}, []int{1}
		all, sums, each := make([]int, 3), []int{1, 2, 3}, []int{rank, 10 + rank, 20 + rank}
		all[rank] = rank
		for _, err := range []error{
			hosts.Broadcast(ctx, h, params, 1),
			hosts.Reduce(ctx, h, count, fast.Sum, 2),
			hosts.AllGather(ctx, h, all),
			hosts.ReduceScatter(ctx, h, sums, fast.Sum),
			hosts.AllToAll(ctx, h, each),
			hosts.Barrier(ctx, h),
		} {
			if err != nil {
				return err
			}
		}
		if rank == 2 {
			fmt.Println(params, count, all, sums[rank], each)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [7] [3] [0 1 2] 9 [20 21 22]
	// <nil>
}

// Between hosts, an average of gradients takes a quarter of the bytes. These goroutines are on one host, so that
// nothing is quantized.
func ExampleAllReduceQuantized() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		h, err := hosts.New(ctx, c)
		if err != nil {
			return err
		}
		defer h.Close()
		gradient := []float32{1, float32(c.Rank())}
		err = hosts.AllReduceQuantized(ctx, h, gradient, fast.Avg, quantized.Options{Format: quantized.Int8})
		if c.Rank() == 0 {
			fmt.Println(gradient)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 0.5]
	// <nil>
}
