// Package root has roots that depend on the rank.
package root

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/object"
)

func direct(ctx context.Context, c *fast.Comm, x []float32) error {
	return fast.Broadcast(ctx, c, x, c.Rank()) // want `the root of Broadcast depends on the rank`
}

func computed(ctx context.Context, c *fast.Comm, x []float32) error {
	me := c.Rank()
	return fast.Reduce(ctx, c, x, fast.Sum, (me+1)%c.Size()) // want `the root of Reduce depends on the rank`
}

func ofObject(ctx context.Context, c *fast.Comm, x *string) error {
	return object.Broadcast(ctx, c, x, c.Rank()) // want `the root of Broadcast depends on the rank`
}

// What follows is right.

func same(ctx context.Context, c, row *fast.Comm, x []float32) error {
	if err := fast.Broadcast(ctx, c, x, c.Size()-1); err != nil {
		return err
	}
	return fast.Broadcast(ctx, row, x, 0)
}

func ofAnother(ctx context.Context, c, row *fast.Comm, x []float32) error {
	return fast.Broadcast(ctx, c, x, row.Rank())
}

func changes(ctx context.Context, c *fast.Comm, x []float32) error {
	root := c.Rank()
	root = 0
	return fast.Broadcast(ctx, c, x, root)
}
