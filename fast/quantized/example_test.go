package quantized_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/quantized"
)

// Ranks average their gradients, and send a quarter of the bytes.
func Example() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		q, err := quantized.New(c, quantized.Options{})
		if err != nil {
			return err
		}
		gradient := []float32{127, float32(20 * c.Rank()), -63.8}
		err = quantized.AllReduce(ctx, q, gradient, fast.Avg)
		if c.Rank() == 0 {
			fmt.Println(gradient)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [127 20 -64]
	// <nil>
}

// With two buffers the input stays as it is. Floats keep elements apart that are much smaller than others of the block.
func ExampleAllReduceInto() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		q, err := quantized.New(c, quantized.Options{Format: quantized.Float8E5M2, Block: 64})
		if err != nil {
			return err
		}
		src, dst := []float32{1024, 1, 0.0625}, make([]float32, 3)
		err = quantized.AllReduceInto(ctx, q, dst, src, fast.Sum, fast.WithLabel("layers.3.weight"))
		if c.Rank() == 0 {
			fmt.Println(src, dst)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1024 1 0.0625] [2048 2 0.125]
	// <nil>
}

// What a result may be off by follows from the element on each rank, and from the largest magnitude in its block there.
func ExampleOptions_ErrorBound() {
	o := quantized.Options{Format: quantized.Int8}
	operands, maxima := []float32{1, 20, 3}, []float32{127, 127, 127}
	fmt.Printf("%v: %.4f\n", o, o.ErrorBound(fast.Sum, operands, maxima))
	fmt.Printf("average: %.4f\n", o.ErrorBound(fast.Avg, operands, maxima))
	fmt.Printf("any element: %.4f\n", o.ErrorBound(fast.Sum, maxima, maxima))
	// Output:
	// int8/256: 3.0059
	// average: 1.0020
	// any element: 3.0061
}
