package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The algorithms of uneven blocks: those of even blocks that move whole blocks.
var (
	AllGatherVDirect  = serving(spec.AllGatherV, AllGatherDirect, AllGatherDirect.Body)
	AllGatherVRing    = serving(spec.AllGatherV, AllGatherRing, AllGatherRing.Body)
	AllToAllVDirect   = serving(spec.AllToAllV, AllToAllDirect, directAllToAll(false))
	AllToAllVPairwise = func() gen.Algorithm {
		even := AllToAllPairwise
		even.Doc = "In every round the ranks form pairs that exchange two blocks: for long messages."
		return serving(spec.AllToAllV, even, pairwiseAllToAll(false))
	}()
	GatherVLinear        = serving(spec.GatherV, GatherLinear, GatherLinear.Body)
	ReduceScatterVDirect = serving(spec.ReduceScatterV, ReduceScatterDirect, directReduceScatter(unevenSlot))
	ReduceScatterVRing   = serving(spec.ReduceScatterV, ReduceScatterRing, ringReduceScatter(unevenSlot))
	ScatterVLinear       = serving(spec.ScatterV, ScatterLinear, ScatterLinear.Body)
)

var (
	_ = rules(spec.AllGatherV, gen.Rule{Algorithm: "direct", MaxSize: 8}, gen.Rule{Algorithm: "ring"})
	_ = rules(spec.ReduceScatterV,
		gen.Rule{Algorithm: "ring", MaxSize: 2},
		gen.Rule{Transport: "inproc", Algorithm: "direct", MaxSize: 8, MaxBytes: 128 * kib},
		gen.Rule{Transport: "inproc", Algorithm: "ring", MaxSize: 8},
		gen.Rule{Algorithm: "direct", MaxSize: 8},
		gen.Rule{Algorithm: "direct", MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "ring"},
	)
	// Ranks do not know how long the blocks of others are, so the table does not look at bytes.
	_ = rules(spec.AllToAllV, gen.Rule{Algorithm: "direct", MaxSize: 8}, gen.Rule{Algorithm: "pairwise"})
)

// serving registers an algorithm that carries out p as the even algorithm a does, by the program body.
func serving(p spec.Primitive, a gen.Algorithm, body []gen.Node) gen.Algorithm {
	a.Primitive, a.Body = p, body
	return register(a)
}

// evenSlot and unevenSlot are slot at of a buffer that may be scratch, holding data as long as a block that all ranks know.
func evenSlot(buf spec.Buf, at, _ expr) gen.Region       { return gen.Chunk(buf, at) }
func unevenSlot(buf spec.Buf, at, block expr) gen.Region { return gen.BlockSlot(buf, at, block) }
