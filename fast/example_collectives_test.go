package fast_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/collgen/collgen/fast"
)

// Rank 1 has the parameters, and all ranks get them.
func ExampleBroadcast() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		params := make([]float32, 2)
		if c.Rank() == 1 {
			params = []float32{0.5, 2}
		}
		err := fast.Broadcast(ctx, c, params, 1)
		if c.Rank() == 2 {
			fmt.Println(params)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0.5 2]
	// <nil>
}

// The root alone gets the largest elements.
func ExampleReduce() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		x := []int{c.Rank(), 10 - c.Rank()}
		err := fast.Reduce(ctx, c, x, fast.Max, 0)
		if c.Rank() == 0 {
			fmt.Println(x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [2 10]
	// <nil>
}

// Every rank gets a block of two elements from each rank. In place, its own block is in the buffer already.
func ExampleAllGather() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		all := make([]int, 2*c.Size())
		copy(all[2*c.Rank():], []int{c.Rank(), 10 * c.Rank()})
		err := fast.AllGather(ctx, c, all)
		if c.Rank() == 2 {
			fmt.Println(all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 0 1 10 2 20]
	// <nil>
}

// With two buffers, a rank's own block comes from the second.
func ExampleAllGatherInto() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		all := make([]int, c.Size())
		err := fast.AllGatherInto(ctx, c, all, []int{c.Rank() * c.Rank()})
		if c.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 1 4]
	// <nil>
}

// The root gets the block of each rank. Other ranks pass their own block alone.
func ExampleGather() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		buf := []int{c.Rank() + 1}
		if c.Rank() == 0 {
			buf = make([]int, c.Size())
			buf[0] = 1
		}
		err := fast.Gather(ctx, c, buf, 0)
		if c.Rank() == 0 {
			fmt.Println(buf)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 2 3]
	// <nil>
}

// The root has a block for each rank.
func ExampleScatterInto() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		var all []int
		if c.Rank() == 0 {
			all = []int{1, 2, 3, 4, 5, 6}
		}
		mine := make([]int, 2)
		err := fast.ScatterInto(ctx, c, mine, all, 0)
		if c.Rank() == 2 {
			fmt.Println(mine)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [5 6]
	// <nil>
}

// In place, the root keeps its own block where it is.
func ExampleScatter() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		buf := make([]int, 2)
		if c.Rank() == 0 {
			buf = []int{1, 2, 3, 4, 5, 6}
		}
		err := fast.Scatter(ctx, c, buf, 0)
		if c.Rank() == 1 {
			fmt.Println(buf)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [3 4]
	// <nil>
}

// Every rank has a block for each rank, and gets the sum of the blocks for it.
func ExampleReduceScatter() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		x := []int{1, 10, 100}
		err := fast.ReduceScatter(ctx, c, x, fast.Sum)
		if c.Rank() == 2 {
			fmt.Println(x[c.Rank()])
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 300
	// <nil>
}

// Every rank gets the sum of its own elements and those of the ranks before it.
func ExampleScan() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		x := []int{1, c.Rank()}
		err := fast.Scan(ctx, c, x, fast.Sum)
		if c.Rank() == 3 {
			fmt.Println(x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [4 6]
	// <nil>
}

// Each rank learns where its elements begin among those of all: the sum of the counts before. Rank 0 gets nothing.
func ExampleExscanInto() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		begin := make([]int, 1)
		err := fast.ExscanInto(ctx, c, begin, []int{10 + c.Rank()}, fast.Sum)
		if c.Rank() == 3 {
			fmt.Println(begin)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [33]
	// <nil>
}

// In place, rank 0 keeps what it has.
func ExampleExscan() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		x := []int{10 + c.Rank()}
		err := fast.Exscan(ctx, c, x, fast.Sum)
		if c.Rank() == 2 {
			fmt.Println(x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [21]
	// <nil>
}

// Every rank has an element for each rank: block r goes to rank r.
func ExampleAllToAll() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		x := []int{10 * c.Rank(), 10*c.Rank() + 1, 10*c.Rank() + 2}
		err := fast.AllToAll(ctx, c, x)
		if c.Rank() == 1 {
			fmt.Println(x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 11 21]
	// <nil>
}

// No rank goes on before all ranks have come.
func ExampleBarrier() {
	var came atomic.Int32
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		came.Add(1)
		if err := fast.Barrier(ctx, c); err != nil {
			return err
		}
		if n := came.Load(); n != 3 {
			return fmt.Errorf("only %d ranks have come", n)
		}
		return nil
	})
	fmt.Println(err)
	// Output: <nil>
}

// gcd is an op of this program.
var gcd, errGCD = fast.NewOp("gcd", true, func(dst, a, b []uint64) {
	for i := range dst {
		x, y := a[i], b[i]
		for y != 0 {
			x, y = y, x%y
		}
		dst[i] = x
	}
})

// The greatest common divisors of two numbers of each rank.
func ExampleNewOp() {
	numbers := [][]uint64{{12, 35}, {18, 49}, {30, 77}}
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		if errGCD != nil {
			return errGCD
		}
		mine := numbers[c.Rank()]
		if err := fast.Reduce(ctx, c, mine, gcd, 0); err != nil || c.Rank() != 0 {
			return err
		}
		fmt.Println(mine)
		return nil
	})
	fmt.Println(err)
	// Output:
	// [6 7]
	// <nil>
}

// A weighted average: each rank's losses count as often as it has samples.
func ExampleWithPreMul() {
	samples := []float64{10, 30}
	losses := [][]float64{{4, 1}, {2, 3}}
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		weight := samples[c.Rank()] / (samples[0] + samples[1])
		mean := make([]float64, 2)
		err := fast.AllReduceInto(ctx, c, mean, losses[c.Rank()], fast.Sum, fast.WithPreMul(weight))
		if c.Rank() == 0 {
			fmt.Println(mean)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [2.5 2.5]
	// <nil>
}

// Of three temperatures on each rank, the highest of all ranks, and who has it: MaxLoc takes pairs of a value and where
// it is.
func ExampleOp() {
	temperatures := [][]float64{{20, 25, 31}, {22, 24, 31}, {19, 27, 30}}
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		pairs := make([]complex128, 3)
		for i, t := range temperatures[c.Rank()] {
			pairs[i] = complex(t, float64(c.Rank()))
		}
		if err := fast.Reduce(ctx, c, pairs, fast.MaxLoc, 0); err != nil || c.Rank() != 0 {
			return err
		}
		for _, p := range pairs {
			fmt.Println(real(p), "on rank", imag(p))
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 22 on rank 1
	// 27 on rank 2
	// 31 on rank 0
	// <nil>
}
