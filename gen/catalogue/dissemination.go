package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// BarrierDissemination tells twice as many ranks in every step.
var BarrierDissemination = register(gen.Algorithm{
	Name:      "dissemination",
	Primitive: spec.Barrier,
	Doc: "In step k every rank signals the one 2^k after it: after the last step, each has heard, at first or " +
		"second hand, of all.",
	Source: "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, International Journal of Parallel " +
		"Programming 17(1), 1988",
	Body: []gen.Node{
		let("rounds", ceilLog2(size)),
		loop("k", v("rounds"), []gen.Node{
			let("to", up(add(rank, shl(one, v("k"))), size)),
			let("from", down(sub(rank, shl(one, v("k"))), size)),
			gen.Step{gen.Send{To: v("to")}, gen.Recv{From: v("from")}},
		}),
	},
	Hints: barrierDisseminationHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: zero, Gamma: zero},
})

// Dissemination: before round k a rank has heard of the 2^k ranks that end with itself.
var barrierDisseminationHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: gen.Heard, Where: lt(behind(rank, gen.Cell), spec.Shl(one, v("k")))},
}}}}
