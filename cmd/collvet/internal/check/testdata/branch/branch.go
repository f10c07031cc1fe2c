// Package branch has collectives that some ranks make.
package branch

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/scalar"
)

func onRoot(ctx context.Context, c *fast.Comm, x []float32) error {
	if c.Rank() == 0 {
		return fast.Broadcast(ctx, c, x, 0) // want `only some ranks of c call Broadcast: the others do not come to it`
	}
	return nil
}

func variable(ctx context.Context, c *fast.Comm, x []float32) error {
	rank := c.Rank()
	if rank == 0 {
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil { // want `only some ranks of c call AllReduce`
			return err
		}
	} else if err := fast.Barrier(ctx, c); err != nil { // want `only some ranks of c call Barrier`
		return err
	}
	return nil
}

func afterReturn(ctx context.Context, c *fast.Comm, x []float32) error {
	if c.Rank() != 0 {
		return nil
	}
	x[0] = 1
	_, err := scalar.Sum(ctx, c, x[0]) // want `only some ranks of c call Sum`
	return err
}

func inLoop(ctx context.Context, c *fast.Comm, x []float32) error {
	for i := range 3 {
		if c.Rank() == i {
			continue
		}
		if err := fast.AllGather(ctx, c, x); err != nil { // want `only some ranks of c call AllGather`
			return err
		}
	}
	return nil
}

func cases(ctx context.Context, c *fast.Comm, x []float32) error {
	switch c.Rank() {
	case 0:
		return fast.Reduce(ctx, c, x, fast.Sum, 0) // want `only some ranks of c call Reduce`
	case 1:
		return fast.Reduce(ctx, c, x, fast.Max, 0) // want `only some ranks of c call Reduce`
	}
	return fast.Barrier(ctx, c) // want `only some ranks of c call Barrier`
}

func conditions(ctx context.Context, c *fast.Comm, x []float32) (err error) {
	switch {
	case c.Rank() < 2:
		err = fast.Scan(ctx, c, x, fast.Sum) // want `only some ranks of c call Scan`
	default:
	}
	return err
}

func split(ctx context.Context, c *fast.Comm) (*fast.Comm, error) {
	if c.Rank() == 0 {
		return nil, nil
	}
	return c.Split(ctx, 0, 0) // want `only some ranks of c call Split`
}

// What follows is right.

func eachItsForm(ctx context.Context, c *fast.Comm, dst, src []float32) error {
	if c.Rank() == 0 {
		return fast.BroadcastInto(ctx, c, dst, src, 0)
	}
	return fast.Broadcast(ctx, c, dst, 0)
}

func messages(ctx context.Context, c *fast.Comm, x []float32) error {
	if c.Rank() == 0 {
		return fast.Send(ctx, c, x, 1)
	}
	return fast.Recv(ctx, c, x, 0)
}

func anotherCommunicator(ctx context.Context, c, first *fast.Comm, x []float32) error {
	if c.Rank() < 2 {
		return fast.AllReduce(ctx, first, x, fast.Sum)
	}
	return nil
}

func failing(ctx context.Context, c *fast.Comm, x []float32) error {
	if c.Rank() == 0 && len(x) == 0 {
		return errors.New("no elements")
	}
	return fast.Broadcast(ctx, c, x, 0)
}

func onlyPrints(ctx context.Context, c *fast.Comm, x []float32) error {
	if c.Rank() == 0 {
		println(len(x))
	}
	return fast.Broadcast(ctx, c, x, 0)
}

func group(ctx context.Context, c *fast.Comm) (*fast.Comm, error) {
	if c.Rank() > 1 {
		return nil, nil
	}
	return c.Group(ctx, []int{0, 1})
}

func rest(ctx context.Context, c *fast.Comm, x []float32) error {
	if c.Rank() == 0 {
		if err := fast.Broadcast(ctx, c, x, 0); err != nil {
			return err
		}
		return nil
	}
	return fast.Broadcast(ctx, c, x, 0)
}
