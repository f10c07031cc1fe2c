package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The algorithms of uneven blocks: those of even blocks that move whole blocks.
var (
	AllGatherVDirect = like(AllGatherDirect, gen.Algorithm{
		Name: "direct", Primitive: spec.AllGatherV, Doc: AllGatherDirect.Doc, Body: AllGatherDirect.Body,
	})
	AllGatherVRing = like(AllGatherRing, gen.Algorithm{
		Name: "ring", Primitive: spec.AllGatherV, Doc: AllGatherRing.Doc, Body: AllGatherRing.Body,
	})
	AllToAllVDirect = like(AllToAllDirect, gen.Algorithm{
		Name: "direct", Primitive: spec.AllToAllV, Doc: AllToAllDirect.Doc, Body: directAllToAll(false),
	})
	AllToAllVPairwise = like(AllToAllPairwise, gen.Algorithm{
		Name: "pairwise", Primitive: spec.AllToAllV, Body: pairwiseAllToAll(false),
		Doc: "In every round the ranks form pairs that exchange two blocks: for long messages.",
	})
	GatherVLinear = like(GatherLinear, gen.Algorithm{
		Name: "linear", Primitive: spec.GatherV, Doc: GatherLinear.Doc, Body: GatherLinear.Body,
	})
	ReduceScatterVDirect = like(ReduceScatterDirect, gen.Algorithm{
		Name: "direct", Primitive: spec.ReduceScatterV, Doc: ReduceScatterDirect.Doc, Body: directReduceScatter(unevenSlot),
	})
	ReduceScatterVRing = like(ReduceScatterRing, gen.Algorithm{
		Name: "ring", Primitive: spec.ReduceScatterV, Doc: ReduceScatterRing.Doc, Body: ringReduceScatter(unevenSlot),
	})
	ScatterVLinear = like(ScatterLinear, gen.Algorithm{
		Name: "linear", Primitive: spec.ScatterV, Doc: ScatterLinear.Doc, Body: ScatterLinear.Body,
	})
)

var (
	_ = rules(spec.AllGatherV, gen.Rule{Algorithm: "direct", MaxSize: 8}, gen.Rule{Algorithm: "direct", MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "ring"})
	_ = rules(spec.ReduceScatterV,
		gen.Rule{Algorithm: "ring", MaxSize: 2},
		gen.Rule{Transport: "inproc", Algorithm: "direct", MaxSize: 8, MaxBytes: 128 * kib},
		gen.Rule{Transport: "inproc", Algorithm: "ring", MaxSize: 8},
		gen.Rule{Algorithm: "direct", MaxSize: 8},
		gen.Rule{Algorithm: "direct", MaxBytes: 4 * kib},
		gen.Rule{Algorithm: "ring"},
	)
	// Ranks do not know how long the blocks of others are, so no rule looks at bytes.
	_ = rules(spec.AllToAllV, gen.Rule{Algorithm: "direct", MaxSize: 64}, gen.Rule{Algorithm: "pairwise"})
)

// like registers a, which carries out its primitive as an algorithm of even blocks does.
func like(even, a gen.Algorithm) gen.Algorithm {
	a.Source, a.Requires, a.Scratch, a.Hints, a.Cost = even.Source, even.Requires, even.Scratch, even.Hints, even.Cost
	return register(a)
}

// evenSlot and unevenSlot are slot at of a buffer that may be scratch, holding data as long as a block that all ranks
// know.
func evenSlot(buf spec.Buf, at, _ expr) gen.Region       { return gen.Chunk(buf, at) }
func unevenSlot(buf spec.Buf, at, block expr) gen.Region { return gen.BlockSlot(buf, at, block) }
