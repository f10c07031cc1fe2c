package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The ring in both directions at once: in round s, chunk c goes to the next rank and chunk d comes from the one before,
// while chunk e goes to the one before and chunk f comes from the next one.

var e, f = v("e"), v("f")

const bothWaysSource = "Chan, van de Geijn, Gropp, Thakur: Collective communication on architectures that support " +
	"simultaneous communication over multiple links, PPoPP 2006"

// bothWays returns the body of n rounds. In the first round, c and e are these.
func bothWays(n, firstC, firstE expr, round ...gen.Node) gen.Node {
	return loop("s", n, append([]gen.Node{
		let("c", down(sub(firstC, v("s")), size)),
		let("d", down(sub(c, one), size)),
		let("e", up(add(firstE, v("s")), size)),
		let("f", up(add(e, one), size)),
	}, round...))
}

// AllGatherBothWays passes every block around half of the ring in each direction.
var AllGatherBothWays = register(gen.Algorithm{
	Name:      "bidirectional-ring",
	Primitive: spec.AllGather,
	Doc: "Every block travels half of the ring in each direction: half of the steps of the ring, where neighbours have " +
		"links of their own.",
	Source: bothWaysSource,
	Body: append(ring[:len(ring):len(ring)],
		let("back", shr(sub(size, one), one)),
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		bothWays(shr(size, one), rank, rank, gen.Step{
			gen.Send{To: next, Data: gen.Chunk(out, c)},
			gen.If{Cond: lt(turn, v("back")), Then: []gen.Node{gen.Send{To: prev, Data: gen.Chunk(out, e)}}},
			gen.Recv{From: prev, Into: gen.Chunk(out, d)},
			gen.If{Cond: lt(turn, v("back")), Then: []gen.Node{gen.Recv{From: next, Into: gen.Chunk(out, f)}}},
		}),
	),
	Hints: allGatherBothWaysHints,
	Cost:  gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// AllReduceBothWays reduces half of each of size chunks around the ring in each direction, and passes the results on.
var AllReduceBothWays = register(gen.Algorithm{
	Name:      "bidirectional-ring",
	Primitive: spec.AllReduce,
	Doc: "Two rings at once, in opposite directions, for one half of the block each: half of the bytes on every link, " +
		"where neighbours have links of their own; for large messages.",
	Source:   bothWaysSource,
	Requires: gen.Requires{Commutative: true},
	Chunks:   mul(two, size),
	Body: append(ring[:len(ring):len(ring)],
		alone(gen.Copy{Into: gen.Span(out, zero, two), From: gen.Span(in, zero, two)}),
		bothWays(last, rank, rank,
			letBuf("partial", eq(turn, zero), in, out),
			gen.Step{
				gen.Send{To: next, Data: gen.Chunk("partial", c)},
				gen.Send{To: prev, Data: gen.Chunk("partial", add(size, e))},
				gen.RecvReduce{From: prev, Into: gen.Chunk(out, d), With: gen.Chunk(in, d)},
				gen.RecvReduce{From: next, Into: gen.Chunk(out, add(size, f)), With: gen.Chunk(in, add(size, f))},
			},
		),
		gen.Step{gen.Finish{Data: gen.Chunk(out, next)}, gen.Finish{Data: gen.Chunk(out, add(size, prev))}},
		bothWays(last, next, prev, gen.Step{
			gen.Send{To: next, Data: gen.Chunk(out, c)},
			gen.Send{To: prev, Data: gen.Chunk(out, add(size, e))},
			gen.Recv{From: prev, Into: gen.Chunk(out, d)},
			gen.Recv{From: next, Into: gen.Chunk(out, add(size, f))},
		}),
	),
	Hints: allReduceBothWaysHints,
	Cost: gen.Cost{
		Alpha: mul(spec.Int(4), sub(size, one)), Beta: mul(spec.Int(4), sub(size, one)), Gamma: mul(two, sub(size, one)),
	},
})

// What the loops keep, for the proofs for every number of ranks.

var allGatherBothWaysHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	// The blocks of so many ranks behind and ahead have come, the nearest first.
	{Buf: out, Where: or(le(behind(rank, gen.Cell), turn), le(behind(gen.Cell, rank), least(turn, v("back")))),
		Chunk: zero, First: gen.Cell, Count: one},
}}}}

// The second half of the chunks goes the other way: chunk e is the sum of the ranks from this one to e.
var allReduceBothWaysHints = func() gen.Hints {
	other := chunks{size, one}
	count := add(turn, one)
	return gen.Hints{Loops: []gen.Invariant{
		{Claims: []gen.Claim{
			partial(and(isSummed, plain.within(c, one)), c, count),
			{Buf: out, Where: and(isSummed, other.within(e, one)), Chunk: gen.Cell, First: ranksFrom(count, rank), Count: count},
			untouched(not(or(plain.within(c, turn), other.within(next, turn)))),
		}},
		{Claims: []gen.Claim{final(or(plain.within(c, count), other.within(prev, count))), noInput}},
	}}
}()
