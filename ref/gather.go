package ref

import "slices"

// Gather gives the root the inputs of all ranks.
func (c Call[T]) Gather() [][]T { return c.only(c.Root, slices.Concat(c.In...)) }
