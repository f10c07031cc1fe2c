// Package maprange has collectives in the order of maps.
package maprange

import (
	"context"
	"maps"
	"slices"

	"github.com/collgen/collgen/fast"
)

func overMap(ctx context.Context, c *fast.Comm, params map[string][]float32) error {
	for _, x := range params {
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil { // want `AllReduce in the order of a map`
			return err
		}
	}
	return nil
}

func overKeys(ctx context.Context, b *fast.Bucket[float32], params map[string][]float32) error {
	for name := range maps.Keys(params) {
		if err := b.Add(ctx, params[name]); err != nil { // want `Add in the order of a map`
			return err
		}
	}
	return nil
}

func sorted(ctx context.Context, c *fast.Comm, params map[string][]float32) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if err := fast.AllReduce(ctx, c, params[name], fast.Sum); err != nil {
			return err
		}
	}
	return nil
}

func jobs(ctx context.Context, names map[string]int) error {
	for _, size := range names {
		if err := fast.Run(ctx, size, func(ctx context.Context, c *fast.Comm) error {
			return fast.Barrier(ctx, c)
		}); err != nil {
			return err
		}
	}
	return nil
}

func messages(ctx context.Context, c *fast.Comm, to map[int][]float32) error {
	for rank, x := range to {
		if err := fast.Send(ctx, c, x, rank); err != nil {
			return err
		}
	}
	return nil
}
