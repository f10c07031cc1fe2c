package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllReduceSwing halves and doubles the chunks as Rabenseifner's algorithm does, with other partners.
//
// In step k an even rank meets the rank 1 - 2 + 4 - … + (-2)^k after it, and an odd one the rank as far before it. So
// partners are on both sides by turns, and about a third closer than 2^k.
//
// Three times that distance is 1 - (-2)^(k+1). So three times a rank, modulo size, differs from that of its partner in
// bit 0 and in bit k+1, and in none between them. A rank's number is that, rotated by one bit: bit k of it says with
// which half of the chunks the rank goes on in step k, and partners have the same lower bits.
//
// No table selects it. It was made for rings and grids, and the simulator knows no routes. On hosts with a link each it
// takes as long there as Rabenseifner's algorithm, which reduces in rank order. Where racks share uplinks it is faster
// in some cases and slower in others, and tables do not know racks.
var AllReduceSwing = register(gen.Algorithm{
	Name:      "swing",
	Primitive: spec.AllReduce,
	Doc: "A reduce-scatter and an all-gather among ranks at distance 1, 1, 3, 5, 11, …, on both sides by turns: the " +
		"steps and the bytes of rabenseifner, of which fewer share a link where ranks are on a ring. Each power of two " +
		"up to 64 is proved, and nothing by induction.",
	Source: "De Sensi, Bonato, Saam, Hoefler: Swing: short-cutting rings for higher bandwidth allreduce, NSDI 2024",
	Requires: gen.Requires{ // proved for these alone
		Commutative: true, Size: and(eq(bitAnd(size, last), zero), le(size, spec.Int(64))),
	},
	Chunks: size,
	Body: slices.Concat([]gen.Node{
		let("rounds", log2(size)),
		let("odd", bitAnd(rank, one)),
		let("thrice", bitAnd(mul(spec.Int(3), rank), last)),
		let("number", shr(add(v("thrice"), mul(v("odd"), size)), one)),
		alone(gen.Copy{Into: block(out), From: block(in)}),
	}, halvingAndDoubling(swinging, v("number"), eq(v("k"), zero))),
	Cost: gen.Cost{Alpha: mul(two, log2(size)), Beta: mul(two, last), Gamma: last},
})

// swinging has a rank meet its partner of a step: mine and theirs are where the half chunks begin that each of them
// goes on with.
func swinging(step expr, body ...gen.Node) []gen.Node {
	return append([]gen.Node{
		let("bit", step),
		let("distance", div(add(shl(two, v("bit")), one), spec.Int(3))),
		let("after", up(add(rank, v("distance")), size)),
		let("before", down(sub(rank, v("distance")), size)),
		let("partner", cond(bitAnd(add(rank, v("bit")), one), v("before"), v("after"))),
		let("left", sub(sub(v("rounds"), one), v("bit"))),
		let("half", shl(one, v("left"))),
		let("mine", shl(spec.Reverse(v("number"), add(v("bit"), one)), v("left"))),
		let("theirs", bitXor(v("mine"), v("half"))),
	}, body...)
}
