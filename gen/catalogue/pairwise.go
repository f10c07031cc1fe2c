package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllToAllPairwise exchanges blocks in rounds, in each of which the ranks form pairs. With an odd number of rounds m,
// the partner of rank r in round t is (t-r) mod m, and whoever would be its own partner sits out; when size is even, m
// is size-1, and that one meets the last rank instead.
var AllToAllPairwise = register(gen.Algorithm{
	Name:      "pairwise",
	Primitive: spec.AllToAll,
	Doc:       "In every round the ranks form pairs that exchange two blocks, also in place: for long messages.",
	Source:    "Sanders, Träff: The hierarchical factor algorithm for all-to-all communication, Euro-Par 2002, LNCS 2400",
	Body:      pairwiseAllToAll(true),
	Hints:     allToAllPairwiseHints,
	Cost: gen.Cost{Alpha: sub(add(size, bitAnd(size, one)), one), Beta: sub(add(size, bitAnd(size, one)), one),
		Gamma: zero},
})

// pairwiseAllToAll returns the program of a pairwise all-to-all, which may be called in place or not.
func pairwiseAllToAll(inPlace bool) []gen.Node {
	return []gen.Node{
		let("rounds", sub(add(size, bitAnd(size, one)), one)),
		loop("t", v("rounds"), []gen.Node{
			let("mirror", down(sub(v("t"), rank), v("rounds"))),
			let("other", cond(eq(v("mirror"), rank), v("rounds"), v("mirror"))),
			// The rank r that would be its own partner: 2r mod m = t.
			let("partner", cond(eq(rank, v("rounds")), shr(add(v("t"), mul(v("rounds"), bitAnd(v("t"), one))), one),
				v("other"))),
			gen.If{Cond: lt(v("partner"), size), Then: []gen.Node{gen.Step{
				gen.Send{To: v("partner"), Data: gen.Chunk(in, v("partner"))},
				gen.Recv{From: v("partner"), Into: gen.Chunk(out, v("partner")), AfterSend: inPlace},
			}}},
		}),
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: gen.Chunk(in, rank)}},
	}
}

// What the loops keep, for the proofs for every number of ranks.

// round is the round of the pairwise exchange in which this rank meets the rank gen.Cell: their sum, around the rounds;
// a last rank that is the rounds' number itself meets the one that would be its own partner.
var round = func() expr {
	rounds := v("rounds")
	meet := func(x, y expr) expr { return spec.Up(add(x, y), rounds) }
	return spec.If(eq(rank, rounds), meet(gen.Cell, gen.Cell), spec.If(eq(gen.Cell, rounds), meet(rank, rank),
		meet(rank, gen.Cell)))
}()

var allToAllPairwiseHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: and(not(eq(gen.Cell, rank)), lt(round, v("t"))), Chunk: rank, First: gen.Cell, Count: one},
	untouched(or(eq(gen.Cell, rank), le(v("t"), round))),
}}}}
