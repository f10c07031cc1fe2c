package catalogue

import (
	"slices"

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
		inPlace,
	},
	Hints: allGatherBruckHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
})

// inPlace puts the blocks of the ranks from this one on, one in each slot, where they belong.
var inPlace = loop("q", size, []gen.Node{
	let("slot", down(sub(v("q"), rank), size)),
	gen.Step{gen.Copy{Into: gen.Chunk(out, v("q")), From: gen.Chunk(scratch, v("slot"))}},
})

// AllGatherKBruck gathers radix times as many after every step.
var AllGatherKBruck = register(gen.Algorithm{
	Name:      "k-bruck",
	Primitive: spec.AllGather,
	Doc: "In step k every rank gets up to radix^k blocks each from the ranks that are 1 to radix-1 times radix^k " +
		"after it: fewer steps than with radix 2, each of more messages, and the fewest bytes for any number of ranks.",
	Source:  bruck,
	Param:   radices,
	Scratch: size,
	Body: slices.Concat([]gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(scratch, zero), From: block(in)}}}, farther(
		let("more", least(shl(one, v("shift")), sub(size, v("distance")))),
		gen.Send{To: v("before"), Data: gen.Span(scratch, zero, v("more"))},
		gen.Recv{From: v("after"), Into: gen.Span(scratch, v("distance"), v("more"))},
	), []gen.Node{inPlace}),
	Hints: gen.Hints{
		Loops: allGatherBruckLoops(shl(one, mul(v("width"), v("k")))),
		Turns: []gen.Turns{{
			Of:   up(add(rank, shl(shr(gen.Cell, v("shift")), v("shift"))), size),
			Turn: sub(shr(behind(rank, spec.Peer), v("shift")), one),
		}},
	},
	Cost: gen.Cost{Alpha: ofDigits, Beta: sub(size, one), Gamma: zero},
})

// AllToAllBruck sends each block on its way to the i-th rank after its own in the steps whose number is a bit of i.
var AllToAllBruck = register(gen.Algorithm{
	Name:      "bruck",
	Primitive: spec.AllToAll,
	Doc: "In step k every rank passes half of the blocks that it has on to the rank 2^k after it, in one message: the " +
		"fewest steps, each with half of all bytes, for short messages.",
	Source:  bruck,
	Scratch: add(size, mul(two, shr(size, one))),
	Body: []gen.Node{
		// Slot i is for the block that goes from some rank to the i-th after that one.
		loop("q", size, []gen.Node{
			let("to", up(add(rank, v("q")), size)),
			gen.Step{gen.Copy{Into: gen.Chunk(scratch, v("q")), From: gen.Chunk(in, v("to"))}},
		}),
		let("rounds", ceilLog2(size)),
		loop("k", v("rounds"), []gen.Node{
			let("distance", shl(one, v("k"))),
			// Of the slots, 2^k stay, the next 2^k go, and so on: so many runs of slots go.
			let("runs", shr(add(sub(size, one), v("distance")), add(v("k"), one))),
			let("some", least(shl(v("runs"), v("k")), sub(size, shl(v("runs"), v("k"))))),
			everyRun(func(slots, gathered gen.Region) gen.Copy { return gen.Copy{Into: gathered, From: slots} }, size),
			let("next", up(add(rank, v("distance")), size)),
			let("prev", down(sub(rank, v("distance")), size)),
			gen.Step{
				gen.Send{To: next, Data: gen.Span(scratch, size, v("some"))},
				gen.Recv{From: prev, Into: gen.Span(scratch, behindGoing, v("some"))},
			},
			everyRun(func(slots, gathered gen.Region) gen.Copy { return gen.Copy{Into: slots, From: gathered} }, behindGoing),
		}),
		loop("q", size, []gen.Node{
			let("slot", down(sub(rank, v("q")), size)),
			gen.Step{gen.Copy{Into: gen.Chunk(out, v("q")), From: gen.Chunk(scratch, v("slot"))}},
		}),
	},
	Hints: allToAllBruckHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Gamma: zero}, // and as many chunks as all numbers below size have bits
})

// behindGoing is the first slot for what comes, behind those for what goes.
var behindGoing = add(size, shr(size, one))

// everyRun copies between the runs of slots that go and a place for all of them, which begins at a slot.
func everyRun(copied func(slots, gathered gen.Region) gen.Copy, gathered expr) gen.Node {
	return loop("h", v("runs"), []gen.Node{
		let("first", add(mul(add(v("h"), v("h")), shl(one, v("k"))), v("distance"))),
		let("n", least(v("distance"), sub(size, v("first")))),
		gen.Step{copied(
			gen.Span(scratch, v("first"), v("n")),
			gen.Span(scratch, add(gathered, shl(v("h"), v("k"))), v("n")),
		)},
	})
}

// Bruck: before step k a rank has the blocks of 2^k ranks from itself on, or of all. Then it puts one after the other
// in its place.
var allGatherBruckHints = gen.Hints{Loops: allGatherBruckLoops(shl(one, v("k")))}

func allGatherBruckLoops(have expr) []gen.Invariant {
	return []gen.Invariant{
		{Claims: []gen.Claim{inSlots(lt(gen.Cell, have))}},
		{Claims: []gen.Claim{
			inSlots(yes),
			{Buf: out, Where: lt(gen.Cell, piece), Chunk: zero, First: gen.Cell, Count: one},
		}},
	}
}

// inSlots says that slots where hold the blocks of the ranks from this one on.
func inSlots(where expr) gen.Claim {
	return gen.Claim{Buf: scratch, Where: where, Chunk: zero, First: up(add(rank, gen.Cell), size), Count: one}
}

// Before step k, slot i has the block of the rank that is as far behind as the lower k bits of i say.
var allToAllBruckHints = func() gen.Hints {
	k, half := v("k"), v("distance")
	// has says that slots where hold what goes to the rank so far ahead, from the one so far behind.
	has := func(where, ahead, behind expr) gen.Claim {
		return gen.Claim{
			Buf: scratch, Where: where, Chunk: up(add(rank, ahead), size), First: down(sub(rank, behind), size), Count: one,
		}
	}
	slots := func(k, where expr) gen.Claim {
		high := shl(shr(gen.Cell, k), k)
		return has(and(lt(gen.Cell, size), where), high, sub(gen.Cell, high))
	}
	// gathered are so many runs of those that go, or have come a step further, from a slot on.
	gathered := func(from, runs, further expr) gen.Claim {
		at := most(zero, sub(gen.Cell, from))
		run := shr(at, k)
		n := least(shl(runs, k), sub(size, shl(runs, k)))
		return has(and(le(from, gen.Cell), lt(at, n)),
			sub(add(mul(add(run, run), shl(one, k)), half), further), add(sub(at, shl(run, k)), further))
	}
	come := gathered(behindGoing, v("runs"), half)
	moved := lt(gen.Cell, mul(add(v("h"), v("h")), shl(one, k)))
	return gen.Hints{Loops: []gen.Invariant{
		{Claims: []gen.Claim{slots(zero, lt(gen.Cell, piece))}},
		{Claims: []gen.Claim{slots(k, yes)}},
		{Claims: []gen.Claim{slots(k, yes), gathered(size, v("h"), zero)}},
		{Claims: []gen.Claim{slots(add(k, one), moved), slots(k, yes), come}},
		{Claims: []gen.Claim{
			has(lt(gen.Cell, size), zero, gen.Cell),
			{Buf: out, Where: lt(gen.Cell, piece), Chunk: rank, First: gen.Cell, Count: one},
			noInput,
		}},
	}}
}()
