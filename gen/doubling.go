package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// Recursive doubling: ranks whose numbers differ in bit k alone exchange in step k all that they have so far. It needs a
// power of two: of a size 2^rounds + extra, the first 2 × extra ranks act in pairs. The even rank of a pair acts for
// both, and the odd one waits. The players are numbered 0..2^rounds-1, in rank order.
var doubling = []Node{
	Let{"rounds", log2(size)},
	Let{"extra", sub(size, shl(one, v("rounds")))},
	Let{"paired", lt(rank, mul(two, v("extra")))},
	Let{"odd", bitAnd(rank, one)},
	Let{"player", cond(v("paired"), shr(rank, one), sub(rank, v("extra")))},
}

// inPairs is what the even and the odd rank of a pair do, and what all others do.
func inPairs(even, odd []Node, unpaired ...Node) Node {
	return If{Cond: v("paired"), Then: []Node{
		If{Cond: v("odd"), Then: odd, Else: even},
	}, Else: unpaired}
}

// doublings is what every player does in every step k; its partner's number is other.
func doublings(body ...Node) Node {
	return If{Cond: or(spec.Not(v("paired")), spec.Not(v("odd"))), Then: []Node{
		For{"k", v("rounds"), append([]Node{Let{"other", bitXor(v("player"), shl(one, v("k")))}}, body...)},
	}}
}

// firstRank is the first rank for which player acts.
func firstRank(player expr) expr { return add(player, least(player, v("extra"))) }

// pairCost is one for sizes with pairs, and zero for powers of two.
var pairCost = least(extra, one)

// AllReduceRecursiveDoubling exchanges and reduces all with ranks at distance 1, 2, 4, ...
var AllReduceRecursiveDoubling = register(Algorithm{
	Name:      "recursive-doubling",
	Primitive: spec.AllReduce,
	Doc:       "Ranks at distance 1, 2, 4, … exchange and reduce all that they have: the fewest steps, for short messages.",
	Source:    thakur,
	Body: slices.Concat(doubling, []Node{
		alone(Copy{Into: block(out), From: block(in)}),
		inPairs(
			[]Node{Step{RecvReduce{From: add(rank, one), Into: block(out), With: block(in)}}},
			[]Node{Step{Send{sub(rank, one), block(in)}}},
		),
		doublings(
			Let{"partner", firstRank(v("other"))},
			LetBuf{"sofar", and(eq(v("k"), zero), spec.Not(v("paired"))), in, out},
			// Operands stay in rank order, so that both compute the very same sum.
			Step{
				Send{v("partner"), block("sofar")},
				RecvReduce{
					From: v("partner"), Into: block(out), With: block("sofar"), ReceivedFirst: lt(v("partner"), rank), AfterSend: true,
				},
			},
		),
		inPairs(
			[]Node{Step{Finish{block(out)}}, Step{Send{add(rank, one), block(out)}}},
			[]Node{Step{Recv{From: sub(rank, one), Into: block(out)}}},
			Step{Finish{block(out)}},
		),
	}),
	Cost: Cost{
		Alpha: add(log2(size), mul(two, pairCost)),
		Beta:  add(log2(size), mul(two, pairCost)),
		Gamma: add(log2(size), pairCost),
	},
})

// AllGatherRecursiveDoubling exchanges all with ranks at distance 1, 2, 4, ...
var AllGatherRecursiveDoubling = register(Algorithm{
	Name:      "recursive-doubling",
	Primitive: spec.AllGather,
	Doc: "Ranks at distance 1, 2, 4, … exchange all that they have, which doubles in each step: the fewest steps, " +
		"for short messages.",
	Source: thakur,
	Body: slices.Concat(doubling, []Node{
		Step{Copy{Into: Chunk(out, rank), From: block(in)}},
		inPairs(
			[]Node{Step{Recv{From: add(rank, one), Into: Chunk(out, add(rank, one))}}},
			[]Node{Step{Send{sub(rank, one), block(in)}}},
		),
		doublings(
			Let{"partner", firstRank(v("other"))},
			// The players of a group of 2^k have the blocks lo..lo+mine-1, those of the other from..from+theirs-1.
			Let{"group", shl(shr(v("player"), v("k")), v("k"))},
			Let{"lo", firstRank(v("group"))},
			Let{"mine", sub(firstRank(add(v("group"), shl(one, v("k")))), v("lo"))},
			Let{"mirror", bitXor(v("group"), shl(one, v("k")))},
			Let{"from", firstRank(v("mirror"))},
			Let{"theirs", sub(firstRank(add(v("mirror"), shl(one, v("k")))), v("from"))},
			Step{
				Send{v("partner"), Span(out, v("lo"), v("mine"))},
				Recv{From: v("partner"), Into: Span(out, v("from"), v("theirs"))},
			},
		),
		inPairs(
			[]Node{Step{Send{add(rank, one), Span(out, zero, size)}}},
			[]Node{Step{Recv{From: sub(rank, one), Into: Span(out, zero, size)}}},
		),
	}),
	Cost: Cost{
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
