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

// ReduceScatterPAT is the all-gather the other way: every rank adds up what comes along the trees, and passes it on.
//
// Let 2^j be the lowest bit of o. The rank o before this one gets from here the sum of this rank and of those after it
// to which its block of an all-gather would go through here: of 2^j ranks, or as many as there are. What has come of
// such a sum waits in slot j, because no two of them with that lowest bit wait at once. What has come of this rank's
// own sum is in slot top. Two further slots are for this rank's input, and for a sum with it.
var ReduceScatterPAT = register(gen.Algorithm{
	Name:      "pat",
	Primitive: spec.ReduceScatter,
	Doc: "Sums go along binomial trees, one in each step: as many bytes as the ring, and each sum takes a number of " +
		"hops that grows with the logarithm of the size, as do the slots.",
	Source:   pat,
	Requires: gen.Requires{Commutative: true, Size: le(size, spec.Int(64))}, // proved for these alone
	Scratch:  mul(least(one, last), add(log2(sub(mul(two, size), one)), spec.Int(3))),
	Body: []gen.Node{
		let("top", ceilLog2(size)),
		alone(gen.Copy{Into: block(out), From: block(in)}),
		loop("s", last, []gen.Node{
			let("o", sub(last, turn)),
			let("distance", bitAnd(v("o"), sub(zero, v("o")))),
			let("j", log2(v("distance"))),
			let("above", sub(v("o"), v("distance"))),
			let("waits", cond(eq(v("above"), zero), v("top"), log2(bitAnd(v("above"), sub(zero, v("above")))))),
			let("begun", and(lt(add(v("j"), one), v("waits")), lt(add(v("o"), v("distance")), size))),
			let("to", down(sub(rank, v("distance")), size)),
			let("from", up(add(rank, v("distance")), size)),
			let("goes", down(sub(rank, v("o")), size)),
			let("apart", or(eq(v("distance"), one), eq(v("o"), last))),
			gen.If{Cond: not(v("apart")), Then: []gen.Node{withOwn(gen.Chunk(scratch, add(v("top"), two)), v("goes"), v("j"))}},
			letBuf("sum", v("apart"), in, scratch),
			let("at", cond(v("apart"), v("goes"), add(v("top"), two))),
			gen.Step{gen.Send{To: v("to"), Data: gen.Chunk("sum", v("at"))}, gen.If{Cond: v("begun"),
				Then: []gen.Node{gen.RecvReduce{From: v("from"), Into: gen.Chunk(scratch, v("waits")),
					With: gen.Chunk(scratch, v("waits")), ReceivedFirst: yes}},
				Else: []gen.Node{gen.Recv{From: v("from"), Into: gen.Chunk(scratch, v("waits"))}},
			}},
		}),
		gen.If{Cond: lt(one, size), Then: []gen.Node{withOwn(block(out), rank, v("top"))}},
		gen.Step{gen.Finish{Data: block(out)}},
	},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// withOwn sets into to the sum of this rank's input of a block and of what is in a slot.
func withOwn(into gen.Region, block, slot expr) gen.Step {
	own := add(v("top"), one)
	return gen.Step{
		gen.Copy{Into: gen.Chunk(scratch, own), From: gen.Chunk(in, block), Lend: true},
		gen.Reduce{Into: into, Var: "i", N: two, From: gen.Chunk(scratch, sub(own, mul(v("i"), sub(own, slot))))},
	}
}
