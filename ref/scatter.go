package ref

import "slices"

// Scatter gives rank r block r of the root.
func (c Call[T]) Scatter() [][]T {
	return c.each(func(rank int) []T { return slices.Clone(c.block(c.Root, rank)) })
}
