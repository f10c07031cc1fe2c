package ref

// ReduceScatter gives rank r the reduction of block r of all inputs.
func (c Call[T]) ReduceScatter() [][]T {
	return c.each(func(rank int) []T {
		var operands [][]T
		for q := range c.In {
			operands = append(operands, c.block(q, rank))
		}
		return c.reduce(operands)
	})
}
