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

// BarrierKDissemination tells radix times as many ranks in every step.
var BarrierKDissemination = register(gen.Algorithm{
	Name:      "k-dissemination",
	Primitive: spec.Barrier,
	Doc: "In step k every rank signals those that are 1 to radix-1 times radix^k after it: fewer steps than " +
		"with radix 2, each of more messages, where these take long and do not hinder each other.",
	Source: "MPICH, src/mpi/coll/barrier/barrier_intra_k_dissemination.c",
	Param:  radices,
	Body:   farther(gen.Send{To: v("after")}, gen.Recv{From: v("before")}),
	Hints:  barrierKDisseminationHints,
	Cost:   gen.Cost{Alpha: ofDigits, Beta: zero, Gamma: zero},
})

// Before round k a rank has heard of the radix^k ranks that end with itself. In the round, the news of a rank that is
// some times radix^k behind come from the one that is so many times behind.
var barrierKDisseminationHints = gen.Hints{
	Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: gen.Heard, Where: lt(behind(rank, gen.Cell), shl(one, mul(v("width"), v("k"))))},
	}}},
	Turns: []gen.Turns{{
		Of:   down(sub(rank, shl(shr(behind(rank, gen.Cell), v("shift")), v("shift"))), size),
		Turn: sub(shr(behind(spec.Peer, rank), v("shift")), one),
	}},
}
