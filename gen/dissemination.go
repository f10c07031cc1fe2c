package gen

import "github.com/collgen/collgen/spec"

// BarrierDissemination tells twice as many ranks in every step.
var BarrierDissemination = register(Algorithm{
	Name:      "dissemination",
	Primitive: spec.Barrier,
	Doc: "In step k every rank signals the one 2^k after it: after the last step, each has heard, at first or " +
		"second hand, of all.",
	Source: "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, International Journal of Parallel " +
		"Programming 17(1), 1988",
	Body: []Node{
		Let{"rounds", ceilLog2(size)},
		For{"k", v("rounds"), []Node{
			Let{"to", up(add(rank, shl(one, v("k"))), size)},
			Let{"from", down(sub(rank, shl(one, v("k"))), size)},
			Step{Send{To: v("to")}, Recv{From: v("from")}},
		}},
	},
	Cost: Cost{Alpha: ceilLog2(size), Beta: zero, Gamma: zero},
})
