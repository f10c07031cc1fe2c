package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllReduceRecursiveMultiplying has radix ranks at a time exchange and reduce all that they have.
//
// Players are those of recursive doubling. First they double as often as their numbers have bits that make no whole
// digit. Then, in every step, players whose numbers differ in one digit alone send each other all that they have.
var AllReduceRecursiveMultiplying = register(gen.Algorithm{
	Name:      "recursive-multiplying",
	Primitive: spec.AllReduce,
	Doc: "In each step radix ranks send each other all that they have, and reduce it in rank order: fewer steps than " +
		"recursive doubling, each of more messages, for short ones.",
	Source: "Ruefenacht, Bull, Booth: Generalisation of recursive doubling for AllReduce: now with simulation, " +
		"Parallel Computing 69, 2017; MPICH, allreduce_intra_recursive_multiplying.c",
	Param:    radices,
	Requires: gen.Requires{Size: le(size, spec.Int(64))}, // proved for these alone
	Scratch:  mul(radix, least(one, div(log2(size), log2(radix)))),
	Body: slices.Concat(doubling, []gen.Node{
		let("width", log2(radix)),
		let("few", spec.Mod(v("rounds"), v("width"))), // bits that make no whole digit
		alone(gen.Copy{Into: block(out), From: block(in)}),
		inPairs(
			[]gen.Node{gen.Step{gen.RecvReduce{From: add(rank, one), Into: block(out), With: block(in)}}},
			[]gen.Node{gen.Step{gen.Send{To: sub(rank, one), Data: block(in)}}},
		),
		asPlayer(
			loop("k", v("few"), exchangeAll),
			loop("m", div(v("rounds"), v("width")), []gen.Node{
				let("shift", add(v("few"), mul(v("width"), v("m")))),
				let("part", shr(v("player"), v("shift"))),
				let("digit", spec.Mod(v("part"), radix)),
				let("group", sub(v("part"), v("digit"))),
				let("low", sub(v("player"), shl(v("part"), v("shift")))),
				letBuf("operand", and(eq(v("shift"), zero), not(v("paired"))), in, out),
				gen.Step{
					loop("c", sub(radix, one), []gen.Node{
						let("after", up(add(add(v("digit"), v("c")), one), radix)),
						let("before", down(sub(sub(v("digit"), v("c")), one), radix)),
						let("next", add(shl(add(v("group"), v("after")), v("shift")), v("low"))),
						let("prev", add(shl(add(v("group"), v("before")), v("shift")), v("low"))),
						gen.Send{To: firstRank(next), Data: block("operand")},
						gen.Recv{From: firstRank(prev), Into: gen.Chunk(scratch, v("before")), Lend: true},
					}),
					gen.Copy{Into: gen.Chunk(scratch, v("digit")), From: block("operand")},
					gen.Reduce{Into: block(out), Var: "i", N: radix, From: gen.Chunk(scratch, v("i"))},
				},
			}),
		),
		inPairs(
			[]gen.Node{gen.Step{gen.Finish{Data: block(out)}}, gen.Step{gen.Send{To: add(rank, one), Data: block(out)}}},
			[]gen.Node{gen.Step{gen.Recv{From: sub(rank, one), Into: block(out)}}},
			gen.Step{gen.Finish{Data: block(out)}},
		),
	}),
	Cost: gen.Cost{
		Alpha: add(multiplyingCost, mul(two, pairCost)),
		Beta:  add(multiplyingCost, mul(two, pairCost)),
		Gamma: add(multiplyingCost, pairCost),
	},
})

// multiplyingCost is one message for each bit that is in no digit, and one for each other value of each digit.
var multiplyingCost = add(spec.Mod(log2(size), log2(radix)), mul(sub(radix, one), div(log2(size), log2(radix))))
