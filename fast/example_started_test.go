package fast_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
)

// A started call runs while the program does something else.
func ExampleHandle() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		x := []int{c.Rank()}
		h := fast.StartAllReduce(ctx, c, x, fast.Sum)
		own := c.Rank() * c.Rank() // and x is not touched
		if err := h.Wait(ctx); err != nil {
			return err
		}
		if c.Rank() == 2 {
			fmt.Println(x, own)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [3] 4
	// <nil>
}

// Ranks may start sends and receives in any order, and wait for them then.
func ExampleStartSend() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		other, in := 1-c.Rank(), make([]int, 1)
		send := fast.StartSend(ctx, c, []int{c.Rank()}, other)
		recv := fast.StartRecv(ctx, c, in, other)
		err := errors.Join(send.Wait(ctx), recv.Wait(ctx))
		if c.Rank() == 0 {
			fmt.Println(in)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1]
	// <nil>
}

// The calls of a batch begin together.
func ExampleComm_Batch() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		a, b := []int{c.Rank()}, []float32{1}
		var sum, product *fast.Handle
		if err := c.Batch(func() error {
			sum = fast.StartAllReduce(ctx, c, a, fast.Sum)
			product = fast.StartAllReduce(ctx, c, b, fast.Prod)
			return nil
		}); err != nil {
			return err
		}
		err := errors.Join(sum.Wait(ctx), product.Wait(ctx))
		if c.Rank() == 0 {
			fmt.Println(a, b)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [3] [1]
	// <nil>
}

// The gradients of three layers go in one or a few calls, each as soon as it is known.
func ExampleBucket() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		bucket, err := fast.NewBucket[float32](c, fast.Avg, 1<<20)
		if err != nil {
			return err
		}
		layers := [][]float32{make([]float32, 3), make([]float32, 2), make([]float32, 1)}
		for i, grad := range slices.Backward(layers) {
			grad[0] = float32(i * c.Rank()) // backpropagation
			if err := bucket.Add(ctx, grad); err != nil {
				return err
			}
		}
		err = bucket.Wait(ctx)
		if c.Rank() == 0 {
			fmt.Println(layers)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [[0 0 0] [1.5 0] [3]]
	// <nil>
}

// Two tensors of a training step, whose calls are prepared once.
func ExampleComm_Prepare() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		weight, bias := make([]float32, 3), make([]float32, 1)
		var calls []*fast.Persistent
		for _, grad := range [][]float32{weight, bias} {
			p, err := c.Prepare(func(opt fast.Option) error { return fast.AllReduce(ctx, c, grad, fast.Sum, opt) })
			if err != nil {
				return err
			}
			calls = append(calls, p)
		}
		for step := range 3 {
			bias[0] = float32(step)
			for _, p := range calls {
				if err := p.Do(ctx); err != nil {
					return err
				}
			}
			if c.Rank() == 0 {
				fmt.Println(bias[0])
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0
	// 2
	// 4
	// <nil>
}

// A program that has an event loop of its own is told when a call is over.
func ExampleHandle_OnOver() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		x := []int{c.Rank() + 1}
		events := make(chan error, 1)
		h := fast.StartAllReduce(ctx, c, x, fast.Sum)
		h.OnOver(func(err error) { events <- err })
		err := <-events
		if c.Rank() == 0 {
			fmt.Println(x, h.Over())
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [3] true
	// <nil>
}
