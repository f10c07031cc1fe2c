package ref

// AllToAll gives rank r block r of every rank.
func (c Call[T]) AllToAll() [][]T {
	return c.each(func(rank int) []T {
		var out []T
		for q := range c.In {
			out = append(out, c.block(q, rank)...)
		}
		return out
	})
}
