package ref

// Reduce gives the root the reduction of all inputs.
func (c Call[T]) Reduce() [][]T { return c.only(c.Root, c.reduce(c.In)) }
