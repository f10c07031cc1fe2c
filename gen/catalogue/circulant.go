package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllGatherCirculant gathers the blocks of the ranks from its own on, each at its place.
//
// With q steps to go, a rank has as many blocks as size / 2^q is when it is rounded up. So each step brings as many or
// one less. Blocks that go on behind the last rank, from rank 0 on, are a message of their own.
var AllGatherCirculant = register(gen.Algorithm{
	Name:      "circulant",
	Primitive: spec.AllGather,
	Doc: "Bruck's all-gather with distances that are halves of the size, rounded up, in place of powers of two: the " +
		"fewest steps and the fewest bytes for any number of ranks. Blocks go to their places at once, so that nothing is " +
		"copied, but some messages are in two parts.",
	Source: "Träff: Optimal, non-pipelined reduce-scatter and allreduce algorithms, arXiv:2410.14234, 2024",
	Body: []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		let("rounds", ceilLog2(size)),
		loop("k", v("rounds"), []gen.Node{
			let("togo", sub(v("rounds"), v("k"))),
			let("have", add(shr(last, v("togo")), one)),
			let("more", sub(add(shr(last, sub(v("togo"), one)), one), v("have"))),
			let("to", down(sub(rank, v("have")), size)),
			let("from", up(add(rank, v("have")), size)),
			let("sent", least(v("more"), sub(size, rank))),
			let("come", least(v("more"), sub(size, v("from")))),
			gen.Step{
				gen.Send{To: v("to"), Data: gen.Span(out, rank, v("sent"))},
				gen.If{Cond: lt(v("sent"), v("more")), Then: []gen.Node{
					gen.Send{To: v("to"), Data: gen.Span(out, zero, sub(v("more"), v("sent")))},
				}},
				gen.Recv{From: v("from"), Into: gen.Span(out, v("from"), v("come"))},
				gen.If{Cond: lt(v("come"), v("more")), Then: []gen.Node{
					gen.Recv{From: v("from"), Into: gen.Span(out, zero, sub(v("more"), v("come")))},
				}},
			},
		}),
	},
	Hints: gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: out, Where: lt(behind(gen.Cell, rank), v("have")), Chunk: zero, First: gen.Cell, Count: one},
	}}}},
	Cost: gen.Cost{Alpha: circulantCost, Beta: sub(size, one), Gamma: zero},
})

// circulantCost is a message for each step, and one more for each but the first; or for the first, too, if most ranks
// are in the second half of those that the last step is for.
var circulantCost = func() expr {
	farther := log2(most(one, last)) // the steps besides the first
	return cond(eq(size, one), zero, add(mul(two, farther), sub(shr(add(mul(two, last), one), farther), two)))
}()
