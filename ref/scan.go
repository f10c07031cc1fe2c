package ref

// Scan gives every rank the reduction of the inputs of the ranks up to itself.
func (c Call[T]) Scan() [][]T {
	return c.each(func(rank int) []T { return c.reduce(c.In[:rank+1]) })
}

// Exscan gives every rank but the first the reduction of the inputs of the ranks before it.
func (c Call[T]) Exscan() [][]T {
	return c.each(func(rank int) []T {
		if rank == 0 {
			return nil
		}
		return c.reduce(c.In[:rank])
	})
}
