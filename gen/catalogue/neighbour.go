package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllGatherNeighbour exchanges with both neighbours by turns.
//
// Even ranks meet the one after them first, and odd ranks the one before. In round i a rank gets the two blocks that
// its neighbour got in the round before: of the i-th rank on one side, and of one beside it.
var AllGatherNeighbour = register(gen.Algorithm{
	Name:      "neighbour-exchange",
	Primitive: spec.AllGather,
	Doc: "Pairs of neighbours exchange two blocks at once, on one side and on the other by turns: half of the " +
		"steps of the ring, for even numbers of ranks.",
	Source: "Chen, Sun, Zhang, Roth: Performance evaluation of allgather algorithms on terascale Linux " +
		"cluster with Fast Ethernet, HPC Asia 2005",
	Requires: gen.Requires{Size: eq(bitAnd(size, one), zero)},
	Body: []gen.Node{
		let("odd", bitAnd(rank, one)),
		let("base", sub(rank, v("odd"))),
		let("first", bitXor(rank, one)),
		let("after", up(add(v("base"), two), size)),
		let("before", down(sub(v("base"), one), size)),
		let("second", cond(v("odd"), v("after"), v("before"))),
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		gen.Step{
			gen.Send{To: v("first"), Data: block(in)},
			gen.Recv{From: v("first"), Into: gen.Chunk(out, v("first"))},
		},
		loop("s", sub(shr(size, one), one), []gen.Node{
			let("again", bitAnd(turn, one)),
			let("other", cond(v("again"), v("first"), v("second"))),
			let("ahead", up(add(v("base"), add(turn, v("again"))), size)),
			let("back", down(sub(v("base"), add(turn, v("again"))), size)),
			let("had", cond(eq(v("again"), v("odd")), v("ahead"), v("back"))),
			let("away", add(add(turn, two), sub(zero, v("again")))),
			let("farther", up(add(v("base"), v("away")), size)),
			let("farback", down(sub(v("base"), v("away")), size)),
			let("more", cond(eq(v("again"), v("odd")), v("farback"), v("farther"))),
			gen.Step{
				gen.Send{To: v("other"), Data: gen.Span(out, v("had"), two)},
				gen.Recv{From: v("other"), Into: gen.Span(out, v("more"), two)},
			},
		}),
	},
	Hints: allGatherNeighbourHints,
	Cost:  gen.Cost{Alpha: shr(size, one), Beta: sub(size, one), Gamma: zero},
})

// Before turn s, the blocks of s pairs are there besides its own, as many on each side, or one more on that of the
// second neighbour.
var allGatherNeighbourHints = func() gen.Hints {
	before := mul(two, shr(add(turn, sub(one, v("odd"))), one))
	has := lt(behind(gen.Cell, down(sub(v("base"), before), size)), add(mul(two, turn), two))
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: out, Where: has, Chunk: zero, First: gen.Cell, Count: one},
	}}}}
}()
