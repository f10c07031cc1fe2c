package ref

import "slices"

// AllGatherV gives every rank the inputs of all ranks.
func (c Call[T]) AllGatherV() [][]T { return c.AllGather() }

// GatherV gives the root the inputs of all ranks.
func (c Call[T]) GatherV() [][]T { return c.Gather() }

// ScatterV gives rank r block r of the root.
func (c Call[T]) ScatterV() [][]T {
	if c.Counts == nil {
		return c.Scatter()
	}
	return c.each(func(rank int) []T { return slices.Clone(cut(c.In[c.Root], c.ofRanks(), rank)) })
}

// ReduceScatterV gives rank r the reduction of block r of all inputs.
func (c Call[T]) ReduceScatterV() [][]T {
	if c.Counts == nil {
		return c.ReduceScatter()
	}
	return c.each(func(rank int) []T {
		var operands [][]T
		for q := range c.In {
			operands = append(operands, cut(c.In[q], c.ofRanks(), rank))
		}
		return c.reduce(operands)
	})
}

// AllToAllV gives rank r block r of every rank.
func (c Call[T]) AllToAllV() [][]T {
	if c.Counts == nil {
		return c.AllToAll()
	}
	return c.each(func(rank int) []T {
		var out []T
		for q := range c.In {
			out = append(out, cut(c.In[q], c.Counts[q], rank)...)
		}
		return out
	})
}

// ofRanks returns how many elements the block of each rank has.
func (c Call[T]) ofRanks() []int {
	counts := make([]int, c.size())
	for r := range counts {
		counts[r] = c.Counts[r][0]
	}
	return counts
}

// cut returns block b of a buffer whose blocks lie one after the other.
func cut[T Elem](buf []T, counts []int, b int) []T {
	from := 0
	for _, n := range counts[:b] {
		from += n
	}
	return buf[from : from+counts[b]]
}
