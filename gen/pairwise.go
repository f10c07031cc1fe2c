package gen

import "github.com/collgen/collgen/spec"

// AllToAllPairwise exchanges blocks in rounds, in each of which the ranks form pairs. With an odd number of rounds m, the
// partner of rank r in round t is (t-r) mod m, and whoever would be its own partner sits out; when size is even, m is
// size-1, and that one meets the last rank instead.
var AllToAllPairwise = register(Algorithm{
	Name:      "pairwise",
	Primitive: spec.AllToAll,
	Doc:       "In every round the ranks form pairs that exchange two blocks, also in place: for long messages.",
	Source:    "Sanders, Träff: The hierarchical factor algorithm for all-to-all communication, Euro-Par 2002, LNCS 2400",
	Body: []Node{
		Let{"rounds", sub(add(size, bitAnd(size, one)), one)},
		For{"t", v("rounds"), []Node{
			Let{"mirror", down(sub(v("t"), rank), v("rounds"))},
			Let{"other", cond(eq(v("mirror"), rank), v("rounds"), v("mirror"))},
			// The rank r that would be its own partner: 2r mod m = t.
			Let{"partner", cond(eq(rank, v("rounds")), shr(add(v("t"), mul(v("rounds"), bitAnd(v("t"), one))), one), v("other"))},
			If{Cond: lt(v("partner"), size), Then: []Node{Step{
				Send{v("partner"), Chunk(in, v("partner"))},
				Recv{From: v("partner"), Into: Chunk(out, v("partner")), AfterSend: true},
			}}},
		}},
		Step{Copy{Into: Chunk(out, rank), From: Chunk(in, rank)}},
	},
	Cost: Cost{Alpha: sub(add(size, bitAnd(size, one)), one), Beta: sub(add(size, bitAnd(size, one)), one), Gamma: zero},
})
