package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// PAT, one block in each message. In step o every rank sends to the rank after it whose distance is the lowest bit of
// o, so that the block of the o-th rank before a rank comes to it then. The binomial trees of all blocks go on in
// parallel.

const pat = "Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale, " +
	"arXiv:2506.20252, 2025"

// AllGatherPAT passes blocks along binomial trees, one after the other.
var AllGatherPAT = register(gen.Algorithm{
	Name:      "pat",
	Primitive: spec.AllGather,
	Doc: "Blocks go along binomial trees, one in each step: as many bytes as the ring, and each block takes a number of " +
		"hops that grows with the logarithm of the size.",
	Source: pat,
	Body: []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		loop("s", last, []gen.Node{
			let("o", add(turn, one)),
			let("distance", bitAnd(v("o"), sub(zero, v("o")))),
			let("to", up(add(rank, v("distance")), size)),
			let("from", down(sub(rank, v("distance")), size)),
			let("passed", down(sub(rank, sub(v("o"), v("distance"))), size)),
			let("come", down(sub(rank, v("o")), size)),
			gen.Step{
				gen.Send{To: v("to"), Data: gen.Chunk(out, v("passed"))},
				gen.Recv{From: v("from"), Into: gen.Chunk(out, v("come"))},
			},
		}),
	},
	Hints: allGatherPATHints,
	Cost:  gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// Before step s the blocks of the s ranks before are there.
var allGatherPATHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: le(behind(rank, gen.Cell), turn), Chunk: zero, First: gen.Cell, Count: one},
}}}}
