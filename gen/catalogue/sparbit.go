package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllGatherSparbit has every block on twice as many ranks after every step, half as far from each other.
//
// Before the step with distance d, a rank has the blocks of the ranks that are a multiple of 2d before it. It sends
// them to the rank d after it, except for a last one that would have gone around the ring.
var AllGatherSparbit = register(gen.Algorithm{
	Name:      "sparbit",
	Primitive: spec.AllGather,
	Doc: "Ranks at distance …, 4, 2, 1 pass on all blocks that they have, each to its place: the fewest steps and the " +
		"fewest bytes, and most of these go to ranks nearby, where they are on one host. Each size up to 64 is proved, and " +
		"nothing by induction.",
	Source: "Loch, Koslovski: Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm, SBAC-PAD " +
		"2021; Open MPI, coll_base_allgather.c, sparbit",
	Requires: gen.Requires{Size: le(size, spec.Int(64))}, // proved for these alone
	Body: []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		let("rounds", ceilLog2(size)),
		loop("k", v("rounds"), []gen.Node{
			let("shift", sub(sub(v("rounds"), one), v("k"))),
			let("distance", shl(one, v("shift"))),
			let("blocks", shr(add(shr(last, v("shift")), one), one)),
			let("to", up(add(rank, v("distance")), size)),
			let("from", down(sub(rank, v("distance")), size)),
			gen.Step{loop("j", v("blocks"), []gen.Node{
				let("passed", down(sub(rank, shl(mul(two, v("j")), v("shift"))), size)),
				let("come", down(sub(rank, shl(add(mul(two, v("j")), one), v("shift"))), size)),
				gen.Send{To: v("to"), Data: gen.Chunk(out, v("passed"))},
				gen.Recv{From: v("from"), Into: gen.Chunk(out, v("come"))},
			})},
		}),
	},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})
