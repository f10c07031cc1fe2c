package fast

import (
	"unsafe"

	"github.com/collgen/collgen/gen"
)

// symbols makes elements: equal expressions are equal numbers. All numbers that it makes are multiples of size, so that
// the one division by size that finishes an average turns a reduction into something else, and tells it apart from all
// that are not finished, or finished twice.
type symbols struct {
	size  uint64
	trees map[[2]uint64]uint64
	next  uint64
}

func newSymbols(size int) *symbols {
	return &symbols{size: uint64(size), trees: map[[2]uint64]uint64{}, next: 1 << 40}
}

func (s *symbols) leaf() uint64 {
	s.next++
	return s.next * s.size
}

func (s *symbols) combine(a, b uint64) uint64 {
	tree, ok := s.trees[[2]uint64{a, b}]
	if !ok {
		tree = s.leaf()
		s.trees[[2]uint64{a, b}] = tree
	}
	return tree
}

// kernel is ⊕ on symbols.
func (s *symbols) kernel(dst, a, b []byte) { s.combineAll(uint64s(dst), uint64s(a), uint64s(b)) }

func (s *symbols) combineAll(dst, a, b []uint64) {
	for i := range dst {
		dst[i] = s.combine(a[i], b[i])
	}
}

// fill makes n elements that are different from all others.
func (s *symbols) fill(n int) []uint64 {
	b := make([]uint64, n)
	for i := range b {
		b[i] = s.leaf()
	}
	return b
}

func uint64s(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// shadow is a rank's memory as the schedule has it, next to that of the code.
type shadow struct {
	syms             *symbols
	cuts             gen.Cuts
	in, out, scratch []uint64
	finishes         bool // the primitive takes an op, which here divides in the end
}

// at returns the elements of a place.
func (s *shadow) at(p gen.Place) []uint64 {
	switch from, to := s.cuts.Span(p); p.Buf {
	case "in":
		return s.in[from:to]
	case "out":
		return s.out[from:to]
	case "scratch":
		return s.scratch[from:to]
	}
	return nil
}

// receive carries out a receive of these elements.
func (s *shadow) receive(in *gen.Instr, got []uint64) {
	dst := s.at(in.Dst)
	switch {
	case in.Kind == gen.RecvInstr:
		copy(dst, got)
	case in.ReceivedFirst:
		s.syms.combineAll(dst, got, s.at(in.Srcs[0]))
	default:
		s.syms.combineAll(dst, s.at(in.Srcs[0]), got)
	}
}

// perform carries out a local instruction.
func (s *shadow) perform(in *gen.Instr) {
	dst := s.at(in.Dst)
	switch in.Kind {
	case gen.CopyInstr:
		copy(dst, s.at(in.Srcs[0]))
	case gen.ReduceInstr:
		sum := append([]uint64(nil), s.at(in.Srcs[0])...)
		for _, src := range in.Srcs[1:] {
			s.syms.combineAll(sum, sum, s.at(src))
		}
		copy(dst, sum)
	case gen.FinishInstr:
		for i := range dst {
			if s.finishes {
				dst[i] /= s.syms.size
			}
		}
	}
}
