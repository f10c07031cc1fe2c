package catalogue

import (
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The algorithms of uneven blocks: those of even blocks that move whole blocks. They are proved; Algorithms will list them when
// package fast has their primitives.
var (
	AllGatherVDirect  = serving(spec.AllGatherV, AllGatherDirect, AllGatherDirect.Body)
	AllGatherVRing    = serving(spec.AllGatherV, AllGatherRing, AllGatherRing.Body)
	AllToAllVDirect   = serving(spec.AllToAllV, AllToAllDirect, directAllToAll(false))
	AllToAllVPairwise = func() gen.Algorithm {
		a := serving(spec.AllToAllV, AllToAllPairwise, pairwiseAllToAll(false))
		a.Doc = "In every round the ranks form pairs that exchange two blocks: for long messages."
		return a
	}()
	GatherVLinear        = serving(spec.GatherV, GatherLinear, GatherLinear.Body)
	ReduceScatterVDirect = serving(spec.ReduceScatterV, ReduceScatterDirect, directReduceScatter(unevenSlot))
	ReduceScatterVRing   = serving(spec.ReduceScatterV, ReduceScatterRing, ringReduceScatter(unevenSlot))
	ScatterVLinear       = serving(spec.ScatterV, ScatterLinear, ScatterLinear.Body)
)

// Uneven returns these algorithms, by full name.
func Uneven() []gen.Algorithm {
	list := []gen.Algorithm{AllGatherVDirect, AllGatherVRing, AllToAllVDirect, AllToAllVPairwise, GatherVLinear,
		ReduceScatterVDirect, ReduceScatterVRing, ScatterVLinear}
	slices.SortFunc(list, func(a, b gen.Algorithm) int { return strings.Compare(a.FullName(), b.FullName()) })
	return list
}

// serving returns an algorithm that carries out p as the even algorithm a does, by the program body.
func serving(p spec.Primitive, a gen.Algorithm, body []gen.Node) gen.Algorithm {
	a.Primitive, a.Body = p, body
	return a
}

// evenSlot and unevenSlot are slot at of a buffer that may be scratch, holding data as long as a block that all ranks know.
func evenSlot(buf spec.Buf, at, _ expr) gen.Region       { return gen.Chunk(buf, at) }
func unevenSlot(buf spec.Buf, at, block expr) gen.Region { return gen.BlockSlot(buf, at, block) }
