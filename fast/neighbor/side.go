package neighbor

import (
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// side is one of the two buffers of a graph's calls. It has a block for each of its edges.
type side struct {
	buffer  string        // "dst" or "src"
	ranks   []int         // the neighbour of each edge
	layerOf []int         // the layer of each edge
	layers  []fast.Blocks // of each layer, where the block of each rank lies in the next call
}

// newSide returns the side with these edges.
func newSide(buffer string, size int, ranks, layerOf []int, layers int) side {
	s := side{buffer: buffer, ranks: slices.Clone(ranks), layerOf: layerOf}
	for range layers {
		s.layers = append(s.layers, fast.Blocks{Counts: make([]int, size), Displs: make([]int, size)})
	}
	return s
}

// place has block i of the next call lie there.
func (s *side) place(i, from, count int) {
	if r := s.ranks[i]; r != None {
		at := &s.layers[s.layerOf[i]]
		at.Counts[r], at.Displs[r] = count, from
	}
}

// equal has the blocks of the next call have count elements each, and begin stride elements apart.
func (s *side) equal(count, stride int) {
	for i := range s.ranks {
		s.place(i, i*stride, count)
	}
}

// share returns how many elements each block of a buffer of that length has.
func (s *side) share(name string, length int) (count int, err error) {
	switch n := len(s.ranks); {
	case n == 0 && length == 0:
		return 0, nil
	case n == 0 || length%n != 0:
		return 0, wire.Refuse(name, "len(%s) is %d, want a multiple of %d, for as many neighbours", s.buffer, length, n)
	default:
		return length / n, nil
	}
}

// uneven has the blocks of the next call lie where blocks says, in a buffer of that length.
func (s *side) uneven(name string, length int, blocks fast.Blocks) error {
	if len(blocks.Counts) != len(s.ranks) || blocks.Displs != nil && len(blocks.Displs) != len(s.ranks) {
		return wire.Refuse(name, "the blocks of %s have %d Counts and %d Displs, want %d, for as many neighbours", s.buffer,
			len(blocks.Counts), len(blocks.Displs), len(s.ranks))
	}
	end := 0
	for i, n := range blocks.Counts {
		from := end
		if blocks.Displs != nil {
			from = blocks.Displs[i]
		}
		if s.ranks[i] == None && blocks.Displs != nil {
			continue
		}
		if n < 0 || from < 0 || from > length || n > length-from {
			return wire.Refuse(name, "block %d of %s has %d elements from %d on, and len(%s) is %d", i, s.buffer, n, from,
				s.buffer, length)
		}
		s.place(i, from, n)
		end = from + n
	}
	if blocks.Displs == nil && end != length {
		return wire.Refuse(name, "the blocks of %s have %d elements, and len(%s) is %d", s.buffer, end, s.buffer, length)
	}
	return nil
}

// apart returns an error if two blocks of the next call that are in different layers overlap. AllToAllV checks those
// of one layer.
func (s *side) apart(name string, length int) error {
	if len(s.layers) == 1 {
		return nil
	}
	var all exec.Blocks
	for _, layer := range s.layers {
		all.Counts, all.Displs = append(all.Counts, layer.Counts...), append(all.Displs, layer.Displs...)
	}
	return exec.CheckBlocks(all, name, s.buffer, length, false)
}
