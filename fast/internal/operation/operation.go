// Package operation has every operation of a communicator as a test uses it: with inputs that follow from the rank and
// a seed, and a result that is checked.
package operation

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// Operation is a call on every rank, with inputs that follow from the rank and a seed, and a result that is checked.
type Operation struct {
	Name string
	Run  func(ctx context.Context, c *fast.Comm, count, seed int) error
}

// All is all that a communicator can do.
var All = []Operation{
	{"Broadcast", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		root := seed % c.Size()
		buf := fasttest.Input(c.Rank(), count, seed)
		err := fast.Broadcast(ctx, c, buf, root)
		return fasttest.Verified(err, buf, func(i int) int { return fasttest.Element(root, i, seed) })
	}},
	{"Scatter", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		root := seed % c.Size()
		var all []int
		if c.Rank() == root {
			all = fasttest.Input(root, count*c.Size(), seed)
		}
		mine := make([]int, count)
		err := fast.ScatterInto(ctx, c, mine, all, root)
		return fasttest.Verified(err, mine, func(i int) int { return fasttest.Element(root, c.Rank()*count+i, seed) })
	}},
	{"Gather", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		root := seed % c.Size()
		var all []int
		if c.Rank() == root {
			all = make([]int, count*c.Size())
		}
		err := fast.GatherInto(ctx, c, all, fasttest.Input(c.Rank(), count, seed), root)
		return fasttest.Verified(err, all, func(i int) int { return fasttest.Element(i/count, i%count, seed) })
	}},
	{"Reduce", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		root := seed % c.Size()
		var out []int
		if c.Rank() == root {
			out = make([]int, count)
		}
		err := fast.ReduceInto(ctx, c, out, fasttest.Input(c.Rank(), count, seed), fast.Sum, root)
		return fasttest.Verified(err, out, func(i int) int { return fasttest.Total(c.Size(), i, seed) })
	}},
	{"AllGather", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		all := make([]int, count*c.Size())
		err := fast.AllGatherInto(ctx, c, all, fasttest.Input(c.Rank(), count, seed))
		return fasttest.Verified(err, all, func(i int) int { return fasttest.Element(i/count, i%count, seed) })
	}},
	{"AllReduce", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		buf := fasttest.Input(c.Rank(), count, seed)
		err := fast.AllReduce(ctx, c, buf, fast.Sum)
		return fasttest.Verified(err, buf, func(i int) int { return fasttest.Total(c.Size(), i, seed) })
	}},
	{"ReduceScatter", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		mine := make([]int, count)
		err := fast.ReduceScatterInto(ctx, c, mine, fasttest.Input(c.Rank(), count*c.Size(), seed), fast.Sum)
		return fasttest.Verified(err, mine, func(i int) int { return fasttest.Total(c.Size(), c.Rank()*count+i, seed) })
	}},
	{"Scan", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		sum := make([]int, count)
		err := fast.ScanInto(ctx, c, sum, fasttest.Input(c.Rank(), count, seed), fast.Sum)
		return fasttest.Verified(err, sum, func(i int) int { return fasttest.Total(c.Rank()+1, i, seed) })
	}},
	{"Exscan", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		sum := make([]int, count)
		err := fast.ExscanInto(ctx, c, sum, fasttest.Input(c.Rank(), count, seed), fast.Sum)
		return fasttest.Verified(err, sum, func(i int) int { return fasttest.Total(c.Rank(), i, seed) })
	}},
	{"AllToAll", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		out := make([]int, count*c.Size())
		err := fast.AllToAllInto(ctx, c, out, fasttest.Input(c.Rank(), count*c.Size(), seed))
		return fasttest.Verified(err, out, func(i int) int { return fasttest.Element(i/count, c.Rank()*count+i%count, seed) })
	}},
	{"Barrier", func(ctx context.Context, c *fast.Comm, _, _ int) error { return fast.Barrier(ctx, c) }},
	{"Send and Recv", func(ctx context.Context, c *fast.Comm, count, seed int) error {
		next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		if c.Size() == 1 {
			return nil
		}
		buf := make([]int, count)
		receive := func() error {
			err := fast.Recv(ctx, c, buf, prev)
			return fasttest.Verified(err, buf, func(i int) int { return fasttest.Element(prev, i, seed) })
		}
		if c.Rank() == 0 { // so that not all of them send first
			if err := receive(); err != nil {
				return err
			}
			return fast.Send(ctx, c, fasttest.Input(c.Rank(), count, seed), next)
		}
		if err := fast.Send(ctx, c, fasttest.Input(c.Rank(), count, seed), next); err != nil {
			return err
		}
		return receive()
	}},
}
