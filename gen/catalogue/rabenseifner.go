package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// AllReduceRabenseifner halves the chunks that a player sums up in every step, and then doubles those that it knows.
//
// Players are those of recursive doubling, and the block has a chunk for each of them. In step k, players whose numbers
// differ in bit k alone exchange halves of the chunks that both have sums of. Which half a player goes on with is what
// bit k of its number says, so its chunks begin where the lower k bits say in the opposite order. So the sums are those
// of ranks that follow each other, in rank order.
var AllReduceRabenseifner = register(gen.Algorithm{
	Name:      "rabenseifner",
	Primitive: spec.AllReduce,
	Doc: "A reduce-scatter by recursive halving and an all-gather by recursive doubling: the bytes of the ring in " +
		"a number of " +
		"steps that grows with the logarithm of the size, for messages of medium length.",
	Source: "Rabenseifner: Optimization of collective reduction operations, ICCS 2004; " + thakur,
	Chunks: power,
	Body: slices.Concat(doubling, []gen.Node{
		alone(gen.Copy{Into: block(out), From: block(in)}),
		inPairs(
			[]gen.Node{gen.Step{gen.RecvReduce{From: add(rank, one), Into: everyChunk(out), With: everyChunk(in)}}},
			[]gen.Node{gen.Step{gen.Send{To: sub(rank, one), Data: everyChunk(in)}}},
		),
		asPlayer(halvingAndDoubling(halving, v("player"), and(eq(v("k"), zero), not(v("paired"))))...),
		inPairs(
			[]gen.Node{gen.Step{gen.Send{To: add(rank, one), Data: everyChunk(out)}}},
			[]gen.Node{gen.Step{gen.Recv{From: sub(rank, one), Into: everyChunk(out)}}},
		),
	}),
	Hints: allReduceRabenseifnerHints,
	Cost: gen.Cost{
		Alpha: mul(two, add(log2(size), pairCost)),
		Beta:  mul(two, add(sub(power, one), mul(power, pairCost))),
		Gamma: add(sub(power, one), mul(power, pairCost)),
	},
})

// everyChunk is all of a block that has a chunk for every player.
func everyChunk(buf spec.Buf) gen.Region { return gen.Span(buf, zero, shl(one, v("rounds"))) }

// halvingAndDoubling returns the reduce-scatter and the all-gather of ranks that meet as meeting says. number is where
// the chunk of a rank is, with its bits in the opposite order; onlyInput holds as long as a rank has no sums yet.
func halvingAndDoubling(meeting func(bit expr, body ...gen.Node) []gen.Node, number, onlyInput expr) []gen.Node {
	return []gen.Node{
		loop("k", v("rounds"), meeting(v("k"),
			letBuf("sofar", onlyInput, in, out),
			gen.Step{
				gen.Send{To: v("partner"), Data: gen.Span("sofar", v("theirs"), v("half"))},
				gen.RecvReduce{
					From: v("partner"), Into: gen.Span(out, v("mine"), v("half")), With: gen.Span("sofar", v("mine"), v("half")),
					ReceivedFirst: lt(v("partner"), rank),
				},
			},
		)),
		gen.Step{gen.Finish{Data: gen.Chunk(out, spec.Reverse(number, v("rounds")))}},
		loop("k", v("rounds"), meeting(sub(sub(v("rounds"), one), v("k")), gen.Step{
			gen.Send{To: v("partner"), Data: gen.Span(out, v("mine"), v("half"))},
			gen.Recv{From: v("partner"), Into: gen.Span(out, v("theirs"), v("half"))},
		})),
	}
}

// halving has a player meet the one whose number differs in a bit: partner is its first rank, and mine and theirs are
// where the half chunks begin that each of them goes on with.
func halving(bit expr, body ...gen.Node) []gen.Node {
	return append([]gen.Node{
		let("bit", bit),
		let("other", bitXor(v("player"), shl(one, v("bit")))),
		let("partner", firstRank(v("other"))),
		let("left", sub(sub(v("rounds"), one), v("bit"))),
		let("half", shl(one, v("left"))),
		let("mine", shl(spec.Reverse(v("player"), add(v("bit"), one)), v("left"))),
		let("theirs", shl(spec.Reverse(v("other"), add(v("bit"), one)), v("left"))),
	}, body...)
}

// Before step k of the halving, a player has sums of its group of 2^k players for the chunks that its lower k bits
// say, and before that of the doubling it has the results of those that its lower rounds-k bits say.
var allReduceRabenseifnerHints = func() gen.Hints {
	first, count := doublingGroup()
	onlyInput := and(eq(v("k"), zero), not(v("paired")))
	chunks := func(bits expr) expr {
		left := sub(v("rounds"), bits)
		begin := shl(spec.Reverse(v("player"), bits), left)
		return and(le(begin, gen.Cell), lt(gen.Cell, add(begin, shl(one, left))))
	}
	return gen.Hints{Loops: []gen.Invariant{
		{Claims: []gen.Claim{
			{Buf: out, Where: and(or(not(onlyInput), eq(size, one)), chunks(v("k"))), Chunk: gen.Cell, First: first,
				Count: count},
			untouched(onlyInput),
		}},
		{Claims: []gen.Claim{final(chunks(sub(v("rounds"), v("k")))), noInput}},
	}}
}()
