package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"

	"github.com/collgen/collgen/spec"
)

// Recursive doubling: ranks whose numbers differ in bit k alone exchange in step k all that they have so far. It needs
// a power of two: of a size 2^rounds + extra, the first 2 × extra ranks act in pairs. The even rank of a pair acts for
// both, and the odd one waits. The players are numbered 0..2^rounds-1, in rank order.
var doubling = []gen.Node{
	let("rounds", log2(size)),
	let("extra", sub(size, shl(one, v("rounds")))),
	let("paired", lt(rank, mul(two, v("extra")))),
	let("odd", bitAnd(rank, one)),
	let("player", cond(v("paired"), shr(rank, one), sub(rank, v("extra")))),
}

// inPairs returns what the even and the odd rank of a pair do, and what all others do.
func inPairs(even, odd []gen.Node, unpaired ...gen.Node) gen.Node {
	return gen.If{Cond: v("paired"), Then: []gen.Node{
		gen.If{Cond: v("odd"), Then: odd, Else: even},
	}, Else: unpaired}
}

// asPlayer returns what a rank does that acts as a player.
func asPlayer(body ...gen.Node) gen.Node {
	return gen.If{Cond: or(spec.Not(v("paired")), spec.Not(v("odd"))), Then: body}
}

// doublings returns what every player does in every step k.
func doublings(body ...gen.Node) gen.Node {
	return asPlayer(loop("k", v("rounds"), doublingStep(body...)))
}

// doublingStep returns what a player does in step k: its partner's number is other, whose first rank is partner.
func doublingStep(body ...gen.Node) []gen.Node {
	return append([]gen.Node{
		let("other", bitXor(v("player"), shl(one, v("k")))),
		let("partner", firstRank(v("other"))),
	}, body...)
}

// firstRank returns the first rank for which player acts.
func firstRank(player expr) expr { return add(player, least(player, v("extra"))) }

// pairCost is one for sizes with pairs, and zero for powers of two.
var pairCost = least(extra, one)

// AllReduceRecursiveDoubling exchanges and reduces all with ranks at distance 1, 2, 4, ...
var AllReduceRecursiveDoubling = register(gen.Algorithm{
	Name:      "recursive-doubling",
	Primitive: spec.AllReduce,
	Doc: "Ranks at distance 1, 2, 4, … exchange and reduce all that they have: the fewest steps, for " +
		"short messages.",
	Source: thakur,
	Body: slices.Concat(doubling, []gen.Node{
		alone(gen.Copy{Into: block(out), From: block(in)}),
		inPairs(
			[]gen.Node{gen.Step{gen.RecvReduce{From: add(rank, one), Into: block(out), With: block(in)}}},
			[]gen.Node{gen.Step{gen.Send{To: sub(rank, one), Data: block(in)}}},
		),
		asPlayer(loop("k", v("rounds"), exchangeAll)),
		inPairs(
			[]gen.Node{gen.Step{gen.Finish{Data: block(out)}}, gen.Step{gen.Send{To: add(rank, one), Data: block(out)}}},
			[]gen.Node{gen.Step{gen.Recv{From: sub(rank, one), Into: block(out)}}},
			gen.Step{gen.Finish{Data: block(out)}},
		),
	}),
	Hints: allReduceRecursiveDoublingHints,
	Cost: gen.Cost{
		Alpha: add(log2(size), mul(two, pairCost)),
		Beta:  add(log2(size), mul(two, pairCost)),
		Gamma: add(log2(size), pairCost),
	},
})

// exchangeAll has players whose numbers differ in bit k alone exchange and reduce all that they have.
var exchangeAll = doublingStep(
	letBuf("sofar", and(eq(v("k"), zero), spec.Not(v("paired"))), in, out),
	// Operands stay in rank order, so that both compute the very same sum.
	gen.Step{
		gen.Send{To: v("partner"), Data: block("sofar")},
		gen.RecvReduce{
			From: v("partner"), Into: block(out), With: block("sofar"), ReceivedFirst: lt(v("partner"), rank), AfterSend: true,
		},
	},
)

// AllGatherRecursiveDoubling exchanges all with ranks at distance 1, 2, 4, ...
var AllGatherRecursiveDoubling = register(gen.Algorithm{
	Name:      "recursive-doubling",
	Primitive: spec.AllGather,
	Doc: "Ranks at distance 1, 2, 4, … exchange all that they have, which doubles in each step: the fewest steps, " +
		"for short messages.",
	Source: thakur,
	Body: slices.Concat(doubling, []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		inPairs(
			[]gen.Node{gen.Step{gen.Recv{From: add(rank, one), Into: gen.Chunk(out, add(rank, one))}}},
			[]gen.Node{gen.Step{gen.Send{To: sub(rank, one), Data: block(in)}}},
		),
		doublings(
			// The players of a group of 2^k have the blocks lo..lo+mine-1, those of the other from..from+theirs-1.
			let("group", shl(shr(v("player"), v("k")), v("k"))),
			let("lo", firstRank(v("group"))),
			let("mine", sub(firstRank(add(v("group"), shl(one, v("k")))), v("lo"))),
			let("mirror", bitXor(v("group"), shl(one, v("k")))),
			let("from", firstRank(v("mirror"))),
			let("theirs", sub(firstRank(add(v("mirror"), shl(one, v("k")))), v("from"))),
			gen.Step{
				gen.Send{To: v("partner"), Data: gen.Span(out, v("lo"), v("mine"))},
				gen.Recv{From: v("partner"), Into: gen.Span(out, v("from"), v("theirs"))},
			},
		),
		inPairs(
			[]gen.Node{gen.Step{gen.Send{To: add(rank, one), Data: gen.Span(out, zero, size)}}},
			[]gen.Node{gen.Step{gen.Recv{From: sub(rank, one), Into: gen.Span(out, zero, size)}}},
		),
	}),
	Hints: allGatherRecursiveDoublingHints,
	Cost: gen.Cost{
		Alpha: add(log2(size), mul(two, pairCost)),
		Beta:  cond(pairCost, add(add(power, size), pairsBelow), sub(size, one)),
		Gamma: zero,
	},
})

// The blocks that the first player exchanges: 2^k in step k, and one more for each of them that comes from a pair; of
// these there are 2^k too, as long as there are so many.
var (
	enough     = log2(most(extra, one)) // the last step in which there are
	pairsBelow = add(sub(shl(two, enough), one), mul(sub(sub(log2(size), one), enough), extra))
)

// What the loops keep, for the proofs for every number of ranks.

// Recursive doubling: before round k a player has what its group of 2^k players had.
var allGatherRecursiveDoublingHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: and(le(v("lo"), gen.Cell), lt(gen.Cell, add(v("lo"), v("mine")))), Chunk: zero, First: gen.Cell,
		Count: one},
}}}}

// doublingGroup returns the ranks with which a player has met before round k, itself among them.
func doublingGroup() (first, count expr) {
	k := v("k")
	group := spec.Shl(spec.Shr(v("player"), k), k)
	first = firstRank(group)
	return first, sub(firstRank(add(group, spec.Shl(one, k))), first)
}

var allReduceRecursiveDoublingHints = func() gen.Hints {
	first, count := doublingGroup()
	onlyInput := and(eq(v("k"), zero), not(v("paired")))
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: out, Where: or(not(onlyInput), eq(size, one)), Chunk: zero, First: first, Count: count},
		untouched(onlyInput),
	}}}}
}()
