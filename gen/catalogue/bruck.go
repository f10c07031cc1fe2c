package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllGatherBruck gathers the blocks of the ranks from its own on, twice as many after every step.
var AllGatherBruck = register(gen.Algorithm{
	Name:      "bruck",
	Primitive: spec.AllGather,
	Doc: "In step k every rank gets the blocks of up to 2^k more ranks in one message: the fewest steps and the fewest " +
		"bytes for any number of ranks, for one more copy of all.",
	Source:  bruck,
	Scratch: size,
	Body: []gen.Node{
		// Slot i is for the block of the i-th rank after this one, so that what is sent is in one piece.
		gen.Step{gen.Copy{Into: gen.Chunk(scratch, zero), From: block(in)}},
		let("rounds", ceilLog2(size)),
		loop("k", v("rounds"), []gen.Node{
			let("have", shl(one, v("k"))),
			let("more", least(v("have"), sub(size, v("have")))),
			let("to", down(sub(rank, v("have")), size)),
			let("from", up(add(rank, v("have")), size)),
			gen.Step{
				gen.Send{To: v("to"), Data: gen.Span(scratch, zero, v("more"))},
				gen.Recv{From: v("from"), Into: gen.Span(scratch, v("have"), v("more"))},
			},
		}),
		loop("q", size, []gen.Node{
			let("slot", down(sub(v("q"), rank), size)),
			gen.Step{gen.Copy{Into: gen.Chunk(out, v("q")), From: gen.Chunk(scratch, v("slot"))}},
		}),
	},
	Hints: allGatherBruckHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
})

// Bruck: before step k a rank has the blocks of 2^k ranks from itself on, or of all. Then it puts one after the other
// in its place.
var allGatherBruckHints = gen.Hints{Loops: []gen.Invariant{
	{Claims: []gen.Claim{inSlots(lt(gen.Cell, shl(one, v("k"))))}},
	{Claims: []gen.Claim{
		inSlots(yes),
		{Buf: out, Where: lt(gen.Cell, piece), Chunk: zero, First: gen.Cell, Count: one},
	}},
}}

// inSlots says that slots where hold the blocks of the ranks from this one on.
func inSlots(where expr) gen.Claim {
	return gen.Claim{Buf: scratch, Where: where, Chunk: zero, First: up(add(rank, gen.Cell), size), Count: one}
}
