package ref

import (
	"fmt"
	"reflect"

	"github.com/collgen/collgen/spec"
)

// Call is one call of a primitive, seen from all ranks at once. Its methods, one for each primitive, give every rank's
// output, which is empty for a rank that passes none. No output shares memory with an input or with another output.
type Call[T Elem] struct {
	In   [][]T   // by rank; nil for a rank that passes no input
	Op   spec.Op // of a reduction
	Root int     // the root, or the sender
	Peer int     // the receiver
	// Counts says how long uneven blocks are: Counts[r][0] is the length of rank r's block; of AllToAllV, Counts[q][r] is
	// that of the block from rank q to rank r. If it is nil, all are equally long.
	Counts [][]int
}

// Run calls the method that is called as the primitive.
func (c Call[T]) Run(primitive string) ([][]T, error) {
	if m := reflect.ValueOf(c).MethodByName(primitive); m.IsValid() {
		if f, ok := m.Interface().(func() [][]T); ok {
			return f(), nil
		}
	}
	return nil, fmt.Errorf("ref: no primitive is called %q", primitive)
}

// size returns the number of ranks.
func (c Call[T]) size() int { return len(c.In) }

// block is block b of rank q's input, which has size blocks.
func (c Call[T]) block(q, b int) []T {
	count := len(c.In[q]) / c.size()
	return c.In[q][b*count : (b+1)*count]
}

// reduce combines operands of some ranks, from left to right, and finishes.
func (c Call[T]) reduce(operands [][]T) []T {
	result := Fold(c.Op, LeftFold(len(operands)), operands)
	for i, x := range result {
		result[i] = Finish(c.Op, x, c.size())
	}
	return result
}

// each makes the output of every rank.
func (c Call[T]) each(out func(rank int) []T) [][]T {
	all := make([][]T, c.size())
	for rank := range all {
		all[rank] = out(rank)
	}
	return all
}

// only makes the output of one rank.
func (c Call[T]) only(rank int, out []T) [][]T {
	all := make([][]T, c.size())
	all[rank] = out
	return all
}
