package ref

import "slices"

// AllGather gives every rank the inputs of all ranks.
func (c Call[T]) AllGather() [][]T {
	return c.each(func(int) []T { return slices.Concat(c.In...) })
}
