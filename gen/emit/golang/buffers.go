package golang

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/spec"
)

// side is one of the two buffers of a primitive, as its function calls it.
type side struct {
	name string // "dst" or "src"
	spec.Buffer
}

func (s side) exists() bool { return !s.Blocks.IsAbsent() }

// blocks returns the number of blocks where it is a constant, and 0 otherwise.
func (s side) blocks() int {
	if s.Blocks.Kind == spec.Const {
		return max(s.Blocks.N, 0)
	}
	return 0
}

func sides(p spec.Primitive) (dst, src side) { return side{"dst", p.Out}, side{"src", p.In} }

// measure returns the buffer whose length gives the number of elements per block: one that all ranks pass, of as few
// blocks as possible, and never of none.
func measure(p spec.Primitive) (side, error) {
	dst, src := sides(p)
	fits := slices.DeleteFunc([]side{src, dst}, func(s side) bool {
		return !s.On.IsAbsent() || s.blocks() == 0 && !same(s.Blocks, spec.Size)
	})
	if len(fits) == 0 {
		return side{}, fmt.Errorf("%s has no buffer of a fixed number of blocks that every rank passes: "+
			"its function cannot tell how many elements a block has", p.Name)
	}
	return slices.MinFunc(fits, func(x, y side) int { return cost(x) - cost(y) }), nil
}

// cost orders buffers by how simple it is to tell the length of a block from theirs.
func cost(s side) int {
	if n := s.blocks(); n > 0 {
		return n
	}
	return 1 << 30
}

// sharing is how one buffer can be both buffers of a call in place: whole holds part, from its block at on.
type sharing struct {
	whole, part side
	at          spec.Expr
	equal       bool // both are the same memory
}

// inPlace reports whether and how one buffer can be both. Where the two have any other relation in place, programs have
// to pass them both.
func inPlace(p spec.Primitive) (sharing, bool) {
	dst, src := sides(p)
	in, out := p.InPlace.InBlock, p.InPlace.OutBlock
	switch {
	case !dst.exists() || !src.exists() || in.IsAbsent():
		return sharing{}, false
	case same(dst.Blocks, src.Blocks) && same(in, out):
		return sharing{whole: dst, part: src, at: in, equal: true}, true
	case same(in, spec.Int(0)) && contains(dst, src, out):
		return sharing{whole: dst, part: src, at: out}, true
	case same(out, spec.Int(0)) && contains(src, dst, in):
		return sharing{whole: src, part: dst, at: in}, true
	}
	return sharing{}, false
}

// contains reports whether part lies inside whole, starting at block at, for all arguments.
func contains(whole, part side, at spec.Expr) bool {
	switch {
	case part.blocks() == 0 || !whole.On.IsAbsent() && !part.On.IsAbsent():
		return false
	case at.Kind == spec.Const:
		return at.N >= 0 && at.N+part.blocks() <= whole.blocks()
	case same(at, spec.Root) && !same(whole.On, spec.Eq(spec.Rank, spec.Root)):
		return false // the root may be out of range
	}
	return same(whole.Blocks, spec.Size) && part.blocks() == 1 && (same(at, spec.Rank) || same(at, spec.Root))
}

// buffers returns the names of p's buffers.
func buffers(p spec.Primitive) []string {
	dst, src := sides(p)
	var names []string
	for _, s := range []side{dst, src} {
		if s.exists() {
			names = append(names, s.name)
		}
	}
	return names
}
