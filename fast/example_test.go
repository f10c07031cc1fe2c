package fast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/collgen/collgen/fast"
)

// Four ranks, in one process, add what each of them has.
func ExampleAllReduce() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		x := []float32{1, float32(c.Rank())}
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(x)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [4 6]
}

// Large operands in memory that the other ranks of this host read directly: nothing is copied only to be sent. Ranks
// that are processes gain most; among goroutines, as here, it is like any other memory.
func ExampleAlloc() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		gradients, err := fast.Alloc[float32](ctx, c, 1<<20)
		if err != nil {
			return err
		}
		for i := range gradients {
			gradients[i] = float32(c.Rank())
		}
		if err := fast.AllReduce(ctx, c, gradients, fast.Avg); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(len(gradients), gradients[0], gradients[1<<20-1])
		}
		return fast.Free(c, gradients) // Close would free it, too
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 1048576 1.5 1.5
}

// Two ranks reduce the same tensors in different orders. Without labels, nobody would see that.
func ExampleWithLabel() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		names := []string{"weight", "bias"}
		if c.Rank() == 1 {
			slices.Reverse(names)
		}
		for _, name := range names {
			if err := fast.AllReduce(ctx, c, make([]float32, 8), fast.Sum, fast.WithLabel(name)); err != nil {
				return err
			}
		}
		return nil
	})
	var m *fast.MismatchError
	if errors.As(err, &m) {
		fmt.Println(m.Field, "differs")
	}
	// Output: primitive differs
}

// Sums of floats that do not depend on the order of the ranks, nor on their number.
func ExampleReproducible() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		x := []float32{[]float32{1e30, 1, -1e30}[c.Rank()]}
		if err := fast.AllReduce(ctx, c, x, fast.Sum, fast.Reproducible()); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(x)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [1]
	// <nil>
}
