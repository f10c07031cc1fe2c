// Package scalar has the collectives of package fast for one value on each rank, which is passed and returned as such:
//
//	loss, err := scalar.AllReduce(ctx, c, loss, fast.Avg)
//	total, err := scalar.Sum(ctx, c, count)
//
// Each is one call of package fast, with its errors and options; after an error, the values returned have no meaning. A
// call allocates memory for its values, which the calls of package fast on slices do not. Values that are there at the
// same time go faster in one slice.
package scalar

import (
	"cmp"
	"context"

	"github.com/collgen/collgen/fast"
)

// AllReduce returns the reduction of the values of all ranks.
func AllReduce[T fast.Elem](ctx context.Context, c *fast.Comm, x T, op fast.Op, opts ...fast.Option) (T, error) {
	v := []T{x}
	err := fast.AllReduce(ctx, c, v, op, opts...)
	return v[0], err
}

// Sum returns the sum of the values of all ranks.
func Sum[T fast.Elem](ctx context.Context, c *fast.Comm, x T, opts ...fast.Option) (T, error) {
	return AllReduce(ctx, c, x, fast.Sum, opts...)
}

// Max returns the largest of the values of all ranks.
func Max[T fast.Elem](ctx context.Context, c *fast.Comm, x T, opts ...fast.Option) (T, error) {
	return AllReduce(ctx, c, x, fast.Max, opts...)
}

// Min returns the smallest of the values of all ranks.
func Min[T fast.Elem](ctx context.Context, c *fast.Comm, x T, opts ...fast.Option) (T, error) {
	return AllReduce(ctx, c, x, fast.Min, opts...)
}

// All reports whether x is true on all ranks.
func All(ctx context.Context, c *fast.Comm, x bool, opts ...fast.Option) (bool, error) {
	return AllReduce(ctx, c, x, fast.LAnd, opts...)
}

// Any reports whether x is true on any rank.
func Any(ctx context.Context, c *fast.Comm, x bool, opts ...fast.Option) (bool, error) {
	return AllReduce(ctx, c, x, fast.LOr, opts...)
}

// Scan returns the reduction of the values of the ranks from 0 to this one.
func Scan[T fast.Elem](ctx context.Context, c *fast.Comm, x T, op fast.Op, opts ...fast.Option) (T, error) {
	v := []T{x}
	err := fast.Scan(ctx, c, v, op, opts...)
	return v[0], err
}

// Exscan returns the reduction of the values of the ranks before this one, and 0 on rank 0. Of counts, the sum is where
// the elements of this rank begin among those of all.
func Exscan[T fast.Elem](ctx context.Context, c *fast.Comm, x T, op fast.Op, opts ...fast.Option) (T, error) {
	before := make([]T, 1)
	err := fast.ExscanInto(ctx, c, before, []T{x}, op, opts...)
	return before[0], err
}

// Broadcast returns the value of the root.
func Broadcast[T fast.Elem](ctx context.Context, c *fast.Comm, x T, root int, opts ...fast.Option) (T, error) {
	v := []T{x}
	err := fast.Broadcast(ctx, c, v, root, opts...)
	return v[0], err
}

// Gather returns the values of all ranks, by rank, on the root, and nil on other ranks.
func Gather[T fast.Elem](ctx context.Context, c *fast.Comm, x T, root int, opts ...fast.Option) ([]T, error) {
	var all []T
	if c.Rank() == root {
		all = make([]T, c.Size())
	}
	err := fast.GatherInto(ctx, c, all, []T{x}, root, opts...)
	return all, err
}

// AllGather returns the values of all ranks, by rank, on every rank.
func AllGather[T fast.Elem](ctx context.Context, c *fast.Comm, x T, opts ...fast.Option) ([]T, error) {
	all := make([]T, c.Size())
	err := fast.AllGatherInto(ctx, c, all, []T{x}, opts...)
	return all, err
}

// Ordered is a type of elements that Go can compare: integers and floats.
type Ordered interface {
	fast.Elem
	cmp.Ordered
}

// ArgMax returns the largest of the values of all ranks, and the lowest rank that has it. A NaN is less than any
// number. It is an AllGather, so it takes memory for a value of each rank.
func ArgMax[T Ordered](ctx context.Context, c *fast.Comm, x T, opts ...fast.Option) (most T, rank int, err error) {
	return first(ctx, c, x, func(a, b T) bool { return cmp.Compare(a, b) > 0 }, opts)
}

// ArgMin returns the smallest of the values of all ranks, and the lowest rank that has it. A NaN is less than any
// number. It is an AllGather, so it takes memory for a value of each rank.
func ArgMin[T Ordered](ctx context.Context, c *fast.Comm, x T, opts ...fast.Option) (least T, rank int, err error) {
	return first(ctx, c, x, func(a, b T) bool { return cmp.Compare(a, b) < 0 }, opts)
}

// first returns the value that comes before all others, and the lowest rank that has it.
func first[T Ordered](ctx context.Context, c *fast.Comm, x T, before func(a, b T) bool, opts []fast.Option) (T, int,
	error) {
	all, err := AllGather(ctx, c, x, opts...)
	rank := 0
	for r := range all {
		if before(all[r], all[rank]) {
			rank = r
		}
	}
	return all[rank], rank, err
}
