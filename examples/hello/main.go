// Command hello shows what collectives do, on four ranks. Rank r brings ones, times r+1:
//
//	all-gather       everybody gets 1 2 3 4
//	all-reduce       everybody gets the sum, 10
//	reduce           the root gets the sum, 10, and the others keep what they have
//	reduce-scatter   everybody gets a part of the sum, 10 10
//
// It runs under collrun -n 4 or another launcher, or alone, with goroutines as ranks.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/collgen/collgen/fast"
)

const ranks = 4

// example is a collective that is carried out on the four ranks.
type example struct {
	name string
	run  func(ctx context.Context, c *fast.Comm) (got []float32, err error)
	want func(rank int) []float32
}

var examples = []example{
	{
		"all-gather",
		func(ctx context.Context, c *fast.Comm) ([]float32, error) {
			all := make([]float32, ranks)
			return all, fast.AllGatherInto(ctx, c, all, ones(c, 1))
		},
		func(int) []float32 { return []float32{1, 2, 3, 4} },
	}, {
		"all-reduce",
		func(ctx context.Context, c *fast.Comm) ([]float32, error) {
			data := ones(c, 1)
			return data, fast.AllReduce(ctx, c, data, fast.Sum)
		},
		func(int) []float32 { return []float32{10} },
	}, {
		"reduce",
		func(ctx context.Context, c *fast.Comm) ([]float32, error) {
			data := ones(c, 1)
			return data, fast.Reduce(ctx, c, data, fast.Sum, root)
		},
		func(rank int) []float32 {
			if rank == root {
				return []float32{10}
			}
			return []float32{float32(rank + 1)}
		},
	}, {
		"reduce-scatter",
		func(ctx context.Context, c *fast.Comm) ([]float32, error) {
			part := make([]float32, 2)
			return part, fast.ReduceScatterInto(ctx, c, part, ones(c, 2*ranks), fast.Sum)
		},
		func(int) []float32 { return []float32{10, 10} },
	},
}

// root is the rank that gets the result of the reduce.
const root = 2

// ones returns what a rank brings: n times its number plus one.
func ones(c *fast.Comm, n int) []float32 {
	return slices.Repeat([]float32{float32(c.Rank() + 1)}, n)
}

// hello carries out all examples, writes to w what they give on this rank, and checks it.
func hello(ctx context.Context, c *fast.Comm, w io.Writer) error {
	if c.Size() != ranks {
		return fmt.Errorf("there are %d ranks, and these examples are for %d", c.Size(), ranks)
	}
	for _, e := range examples {
		got, err := e.run(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if want := e.want(c.Rank()); !slices.Equal(got, want) {
			return fmt.Errorf("%s gives rank %d %v, want %v", e.name, c.Rank(), got, want)
		}
		fmt.Fprintf(w, "rank %d: %-14s gives %v, as it should\n", c.Rank(), e.name, got)
	}
	return nil
}

func main() {
	err := fast.Main(context.Background(), ranks, func(ctx context.Context, c *fast.Comm) error {
		return hello(ctx, c, os.Stdout)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}
