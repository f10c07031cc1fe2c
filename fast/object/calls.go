package object

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Broadcast gives all ranks the value *v of the root, which stays as it is there. After an error, *v is as it was.
func Broadcast[T any](ctx context.Context, c *fast.Comm, v *T, root int, opts ...Option) error {
	x, err := begin(c, "object.Broadcast", root, opts)
	if err != nil {
		return err
	}
	if v == nil {
		return wire.Refuse(x.part.Operation, "v is nil")
	}
	var mine encoded
	if c.Rank() == root {
		mine = encode(&x.config, *v)
	}
	data, _, err := x.carry(ctx, &mine, 1, func(dst, src []int64) error {
		return fast.BroadcastInto(ctx, c, dst, src, root, x.opts...)
	}, func(dst []byte, _ fast.Blocks, src []byte) error {
		return fast.BroadcastInto(ctx, c, dst, src, root, x.opts...)
	})
	if err != nil || c.Rank() == root {
		return err
	}
	got, err := fromRoot[T](x, data)
	if err == nil {
		*v = got
	}
	return err
}

// Gather returns the values of all ranks, by rank, on the root, and nil on other ranks.
func Gather[T any](ctx context.Context, c *fast.Comm, v T, root int, opts ...Option) ([]T, error) {
	x, err := begin(c, "object.Gather", root, opts)
	if err != nil {
		return nil, err
	}
	values := 0
	if c.Rank() == root {
		values = c.Size()
	}
	mine := encode(&x.config, v)
	all, blocks, err := x.carry(ctx, &mine, values, func(dst, src []int64) error {
		return fast.GatherInto(ctx, c, dst, src, root, x.opts...)
	}, func(dst []byte, from fast.Blocks, src []byte) error {
		return fast.GatherVInto(ctx, c, dst, from, src, root, x.opts...)
	})
	if err != nil || c.Rank() != root {
		return nil, err
	}
	return fromEach[T](x, all, blocks)
}

// AllGather returns the values of all ranks, by rank, on every rank.
func AllGather[T any](ctx context.Context, c *fast.Comm, v T, opts ...Option) ([]T, error) {
	x, err := begin(c, "object.AllGather", noRoot, opts)
	if err != nil {
		return nil, err
	}
	mine := encode(&x.config, v)
	all, blocks, err := x.carry(ctx, &mine, c.Size(), func(dst, src []int64) error {
		return fast.AllGatherInto(ctx, c, dst, src, x.opts...)
	}, func(dst []byte, from fast.Blocks, src []byte) error {
		return fast.AllGatherVInto(ctx, c, dst, from, src, x.opts...)
	})
	if err != nil {
		return nil, err
	}
	return fromEach[T](x, all, blocks)
}

// Scatter returns vs[r] of the root on rank r. What other ranks pass as vs is ignored.
func Scatter[T any](ctx context.Context, c *fast.Comm, vs []T, root int, opts ...Option) (v T, err error) {
	x, err := begin(c, "object.Scatter", root, opts)
	if err != nil {
		return v, err
	}
	var mine encoded
	if c.Rank() == root {
		if err := x.oneForEach(len(vs)); err != nil {
			return v, err
		}
		mine = encode(&x.config, vs...)
	}
	data, _, err := x.carry(ctx, &mine, 1, func(dst, src []int64) error {
		return fast.ScatterInto(ctx, c, dst, src, root, x.opts...)
	}, func(dst []byte, _ fast.Blocks, src []byte) error {
		return fast.ScatterVInto(ctx, c, dst, src, mine.blocks(), root, x.opts...)
	})
	if err != nil {
		return v, err
	}
	return fromRoot[T](x, data)
}

// AllToAll sends vs[r] to rank r, and returns what all ranks have sent to this one, by rank.
func AllToAll[T any](ctx context.Context, c *fast.Comm, vs []T, opts ...Option) ([]T, error) {
	x, err := begin(c, "object.AllToAll", noRoot, opts)
	if err != nil {
		return nil, err
	}
	if err := x.oneForEach(len(vs)); err != nil {
		return nil, err
	}
	mine := encode(&x.config, vs...)
	all, blocks, err := x.carry(ctx, &mine, c.Size(), func(dst, src []int64) error {
		return fast.AllToAllInto(ctx, c, dst, src, x.opts...)
	}, func(dst []byte, from fast.Blocks, src []byte) error {
		return fast.AllToAllV(ctx, c, dst, from, src, mine.blocks(), x.opts...)
	})
	if err != nil {
		return nil, err
	}
	return fromEach[T](x, all, blocks)
}
