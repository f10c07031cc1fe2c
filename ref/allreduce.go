package ref

// AllReduce gives every rank the reduction of all inputs.
func (c Call[T]) AllReduce() [][]T {
	return c.each(func(int) []T { return c.reduce(c.In) })
}
