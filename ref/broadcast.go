package ref

import "slices"

// Broadcast gives every rank the input of the root.
func (c Call[T]) Broadcast() [][]T {
	return c.each(func(int) []T { return slices.Clone(c.In[c.Root]) })
}
