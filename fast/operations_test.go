package fast

import (
	"context"
	"fmt"
)

// operation is a call on every rank, with inputs that follow from the rank and a seed, and a result that is checked.
type operation struct {
	name string
	run  func(ctx context.Context, c *Comm, count, seed int) error
}

// operations are all that a communicator can do.
var operations = []operation{
	{"Broadcast", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		buf := input(c.Rank(), count, seed)
		err := Broadcast(ctx, c, buf, root)
		return verified(err, buf, func(i int) int { return element(root, i, seed) })
	}},
	{"Scatter", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		var all []int
		if c.Rank() == root {
			all = input(root, count*c.Size(), seed)
		}
		mine := make([]int, count)
		err := ScatterInto(ctx, c, mine, all, root)
		return verified(err, mine, func(i int) int { return element(root, c.Rank()*count+i, seed) })
	}},
	{"Gather", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		var all []int
		if c.Rank() == root {
			all = make([]int, count*c.Size())
		}
		err := GatherInto(ctx, c, all, input(c.Rank(), count, seed), root)
		return verified(err, all, func(i int) int { return element(i/count, i%count, seed) })
	}},
	{"Reduce", func(ctx context.Context, c *Comm, count, seed int) error {
		root := seed % c.Size()
		var out []int
		if c.Rank() == root {
			out = make([]int, count)
		}
		err := ReduceInto(ctx, c, out, input(c.Rank(), count, seed), Sum, root)
		return verified(err, out, func(i int) int { return total(c.Size(), i, seed) })
	}},
	{"AllGather", func(ctx context.Context, c *Comm, count, seed int) error {
		all := make([]int, count*c.Size())
		err := AllGatherInto(ctx, c, all, input(c.Rank(), count, seed))
		return verified(err, all, func(i int) int { return element(i/count, i%count, seed) })
	}},
	{"AllReduce", func(ctx context.Context, c *Comm, count, seed int) error {
		buf := input(c.Rank(), count, seed)
		err := AllReduce(ctx, c, buf, Sum)
		return verified(err, buf, func(i int) int { return total(c.Size(), i, seed) })
	}},
	{"ReduceScatter", func(ctx context.Context, c *Comm, count, seed int) error {
		mine := make([]int, count)
		err := ReduceScatterInto(ctx, c, mine, input(c.Rank(), count*c.Size(), seed), Sum)
		return verified(err, mine, func(i int) int { return total(c.Size(), c.Rank()*count+i, seed) })
	}},
	{"AllToAll", func(ctx context.Context, c *Comm, count, seed int) error {
		out := make([]int, count*c.Size())
		err := AllToAllInto(ctx, c, out, input(c.Rank(), count*c.Size(), seed))
		return verified(err, out, func(i int) int { return element(i/count, c.Rank()*count+i%count, seed) })
	}},
	{"Barrier", func(ctx context.Context, c *Comm, _, _ int) error { return Barrier(ctx, c) }},
	{"Send and Recv", func(ctx context.Context, c *Comm, count, seed int) error {
		next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		if c.Size() == 1 {
			return nil
		}
		buf := make([]int, count)
		receive := func() error {
			err := Recv(ctx, c, buf, prev)
			return verified(err, buf, func(i int) int { return element(prev, i, seed) })
		}
		if c.Rank() == 0 { // so that not all of them send first
			if err := receive(); err != nil {
				return err
			}
			return Send(ctx, c, input(c.Rank(), count, seed), next)
		}
		if err := Send(ctx, c, input(c.Rank(), count, seed), next); err != nil {
			return err
		}
		return receive()
	}},
}

// element returns the i-th input of a rank.
func element(rank, i, seed int) int { return (rank+1)*1_000_003 + i*7 + seed }

func input(rank, count, seed int) []int {
	x := make([]int, count)
	for i := range x {
		x[i] = element(rank, i, seed)
	}
	return x
}

// total returns the sum of the i-th inputs of all ranks.
func total(size, i, seed int) int {
	return size*(size+1)/2*1_000_003 + size*(i*7+seed)
}

// wrongResult is the error of a call that has succeeded with a wrong result.
type wrongResult struct{ at, got, want int }

func (w *wrongResult) Error() string {
	return fmt.Sprintf("wrong: [%d] is %d, want %d", w.at, w.got, w.want)
}

// unfinished is the error of a call that had a buffer for its result.
type unfinished struct {
	error
	buf []int
}

func (u *unfinished) Unwrap() error { return u.error }

// verified returns err, with the buffer, or, if there is none, that got is not what is wanted.
func verified(err error, got []int, want func(i int) int) error {
	if err != nil {
		return &unfinished{err, got}
	}
	for i, x := range got {
		if x != want(i) {
			return &wrongResult{i, x, want(i)}
		}
	}
	return nil
}
