package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// ReduceScatterHalving sends half of the partial sums that a rank has to the rank 2^k after it, in step k.
//
// The sum that has j more ranks to go, to the j-th rank after this one, goes 2^k ranks in step k if that is a bit of j.
// So before step k there are those with j = 0, 2^k, 2 × 2^k, …, one in each slot, and every second one is sent.
var ReduceScatterHalving = register(gen.Algorithm{
	Name:      "halving",
	Primitive: spec.ReduceScatter,
	Doc: "In step k every rank sends every second partial sum that it has to the rank 2^k after it, in one message: the " +
		"fewest steps and the fewest bytes for any number of ranks, for two more copies of all.",
	Source: "Träff: Optimal, non-pipelined reduce-scatter and allreduce algorithms, arXiv:2410.14234, 2024; Bruck, Ho: " +
		"Efficient global combine operations in multi-port message-passing systems, Parallel Processing Letters 3(4), 1993",
	Requires: gen.Requires{Commutative: true},
	Scratch:  least(size, mul(two, sub(size, one))),
	Body: []gen.Node{
		let("rounds", ceilLog2(size)),
		let("half", shr(add(size, one), one)),
		loop("k", v("rounds"), []gen.Node{
			let("distance", shl(one, v("k"))),
			let("have", add(div(sub(size, one), v("distance")), one)),
			let("more", shr(v("have"), one)),
			letBuf("sofar", eq(v("k"), zero), in, scratch),
			everySecond(v("more"), one, v("half")),
			everySecond(sub(v("have"), v("more")), zero, zero),
			let("to", up(add(rank, v("distance")), size)),
			let("from", down(sub(rank, v("distance")), size)),
			gen.Step{
				gen.Send{To: v("to"), Data: gen.Span(scratch, v("half"), v("more"))},
				gen.RecvReduce{
					From: v("from"), Into: gen.Span(scratch, zero, v("more")), With: gen.Span(scratch, zero, v("more")),
					ReceivedFirst: yes,
				},
			},
		}),
		letBuf("sum", eq(size, one), in, scratch),
		gen.Step{gen.Copy{Into: block(out), From: block("sum")}, gen.Finish{Data: block(out)}},
	},
	Hints: reduceScatterHalvingHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: sub(size, one)},
})

// everySecond copies n partial sums, from the first one on, into the slots from into on.
func everySecond(n, first, into expr) gen.Node {
	return loop("q", n, []gen.Node{
		let("slot", add(add(v("q"), v("q")), first)),
		let("at", cond(lt(zero, v("k")), v("slot"), up(add(rank, v("slot")), size))),
		gen.Step{gen.Copy{Into: gen.Chunk(scratch, add(into, v("q"))), From: gen.Chunk("sofar", v("at"))}},
	})
}

// Halving: before step k, slot i has the sum that has i × 2^k ranks to go, of the last 2^k ranks or as many as it can
// have come through.
var reduceScatterHalvingHints = func() gen.Hints {
	k := v("k")
	has := func(where, number, togo expr) gen.Claim {
		count := least(shl(one, k), sub(size, togo))
		return gen.Claim{
			Buf: scratch, Where: and(le(zero, mul(number, shl(one, k))), where), Chunk: up(add(rank, togo), size),
			First: ranksFrom(count, down(sub(add(rank, one), count), size)), Count: count,
		}
	}
	// The last slot is said twice: as half of that of the step before, and as the program works it out.
	last := mul(div(sub(size, one), v("distance")), shl(one, k))
	there := and(le(gen.Cell, shr(sub(size, one), k)), lt(last, size))
	still := has(and(lt(zero, k), there), gen.Cell, shl(gen.Cell, k))
	sent := func(n expr) gen.Claim {
		at := most(zero, sub(gen.Cell, v("half")))
		return has(and(le(v("half"), gen.Cell), lt(at, n)), at, add(shl(at, add(k, one)), v("distance")))
	}
	return gen.Hints{Loops: []gen.Invariant{
		{Claims: []gen.Claim{still}},
		{Claims: []gen.Claim{sent(piece), still}},
		{Claims: []gen.Claim{has(lt(gen.Cell, piece), gen.Cell, shl(gen.Cell, add(k, one))), sent(v("more")), still}},
	}}
}()
