package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The ring: every rank sends to the next one and receives from the one before it.
var (
	next = v("next")
	prev = v("prev")
	ring = []gen.Node{
		let("next", up(add(rank, one), size)),
		let("prev", down(sub(rank, one), size)),
	}
)

// aroundRing returns the body of size-1 rounds in which every rank sends chunk c to the next one and receives chunk d
// from the one before it; in the first round, c is first.
func aroundRing(first expr, round ...gen.Node) gen.Node {
	return loop("s", sub(size, one), append([]gen.Node{
		let("c", down(sub(first, v("s")), size)),
		let("d", down(sub(v("c"), one), size)),
	}, round...))
}

// AllGatherRing passes every block around the ring.
var AllGatherRing = register(gen.Algorithm{
	Name:      "ring",
	Primitive: spec.AllGather,
	Doc: "Every block travels around the ring, one hop a step: neighbours alone talk, and each link carries the " +
		"fewest bytes.",
	Source: thakur,
	Body: append(ring[:len(ring):len(ring)],
		gen.Step{gen.Copy{Into: gen.Chunk(out, rank), From: block(in)}},
		aroundRing(rank, gen.Step{
			gen.Send{To: next, Data: gen.Chunk(out, v("c"))},
			gen.Recv{From: prev, Into: gen.Chunk(out, v("d"))},
		}),
	),
	Hints: allGatherRingHints,
	Cost:  gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// ReduceScatterRing lets every block collect its sum on a trip around the ring that ends on its own rank.
var ReduceScatterRing = register(gen.Algorithm{
	Name:      "ring",
	Primitive: spec.ReduceScatter,
	Doc: "The partial sum of every block travels around the ring to its own rank: the fewest bytes on every link, " +
		"for large messages.",
	Source:   patarasuk,
	Requires: gen.Requires{Commutative: true},
	Scratch:  most(zero, least(two, sub(size, two))),
	Body:     ringReduceScatter(evenSlot),
	Hints:    reduceScatterRingHints,
	Cost:     gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// ringReduceScatter returns the program of a ring reduce-scatter.
func ringReduceScatter(slot func(buf spec.Buf, at, block expr) gen.Region) []gen.Node {
	return append(ring[:len(ring):len(ring)],
		alone(gen.Copy{Into: block(out), From: block(in)}),
		aroundRing(prev,
			// Partial sums wait in two slots by turns: one is sent while the other is filled.
			letBuf("partial", eq(v("s"), zero), in, scratch),
			let("at", cond(eq(v("s"), zero), v("c"), bitAnd(sub(v("s"), one), one))),
			letBuf("sum", eq(v("s"), sub(size, two)), out, scratch),
			let("slot", cond(eq(v("s"), sub(size, two)), zero, bitAnd(v("s"), one))),
			gen.Step{
				gen.Send{To: next, Data: slot("partial", v("at"), v("c"))},
				gen.RecvReduce{From: prev, Into: slot("sum", v("slot"), v("d")), With: gen.Chunk(in, v("d"))},
			},
		),
		gen.Step{gen.Finish{Data: block(out)}},
	)
}

// AllReduceRing reduces each of size chunks once around the ring, and then passes the results around it once more.
var AllReduceRing = register(gen.Algorithm{
	Name:      "ring",
	Primitive: spec.AllReduce,
	Doc:       "A reduce-scatter and an all-gather around the ring: the fewest bytes on every link, for large messages.",
	Source:    patarasuk,
	Requires:  gen.Requires{Commutative: true},
	Chunks:    size,
	Body:      append(ring[:len(ring):len(ring)], ringAllReduce(block, gen.Chunk, gen.Chunk, whole)...),
	Hints:     allReduceRingHints,
	Cost:      gen.Cost{Alpha: mul(two, sub(size, one)), Beta: mul(two, sub(size, one)), Gamma: sub(size, one)},
})

// AllReduceChunkedRing is the ring with each of its chunks cut into depth pieces.
var AllReduceChunkedRing = register(gen.Algorithm{
	Name:      "chunked-ring",
	Primitive: spec.AllReduce,
	Doc: "The ring in pieces: what a rank sends arrived depth steps earlier, so that no rank waits for a late " +
		"one at once, and a piece fits the cache; for the largest messages.",
	Source:   "NVIDIA NCCL 2, src/device/all_reduce.h, runRing",
	Requires: gen.Requires{Commutative: true},
	Chunks:   mul(size, depth),
	Body: append(ring[:len(ring):len(ring)], ringAllReduce(
		func(buf spec.Buf) gen.Region { return gen.Span(buf, zero, depth) },
		func(buf spec.Buf, c expr) gen.Region { return gen.Span(buf, mul(c, depth), depth) },
		func(buf spec.Buf, c expr) gen.Region { return gen.Chunk(buf, add(mul(c, depth), v("q"))) },
		func(round ...gen.Node) []gen.Node { return []gen.Node{loop("q", depth, round)} },
	)...),
	Hints: allReduceChunkedRingHints,
	Cost:  piecesCost,
})

// AllReduceSegmentedRing is a ring after the other, each on one of depth pieces of the block.
var AllReduceSegmentedRing = register(gen.Algorithm{
	Name:      "segmented-ring",
	Primitive: spec.AllReduce,
	Doc: "One piece of the block after the other goes around the ring, twice: what was reduced is still in the cache " +
		"when it is passed on; for messages that are larger than a cache.",
	Source:   "Open MPI, coll_base_allreduce.c, ompi_coll_base_allreduce_intra_ring_segmented",
	Requires: gen.Requires{Commutative: true},
	Chunks:   mul(size, depth),
	Body: append(ring[:len(ring):len(ring)], loop("q", depth, ringAllReduce(
		func(buf spec.Buf) gen.Region { return gen.Chunk(buf, v("q")) },
		ofSegment, ofSegment, whole,
	))),
	Hints: allReduceSegmentedRingHints,
	Cost:  piecesCost,
})

// ofSegment is chunk c of segment q of a block that has size chunks in each.
func ofSegment(buf spec.Buf, c expr) gen.Region { return gen.Chunk(buf, add(mul(v("q"), size), c)) }

// piecesCost is that of a ring in depth pieces, in chunks of a piece.
var piecesCost = gen.Cost{
	Alpha: mul(mul(two, sub(size, one)), depth),
	Beta:  mul(mul(two, sub(size, one)), depth),
	Gamma: mul(sub(size, one), depth),
}

// whole makes a round of what is done with one piece where there is only one.
func whole(round ...gen.Node) []gen.Node { return round }

// ringAllReduce returns the ring all-reduce, whose chunks may consist of pieces: the first chunk, chunk c and the
// current piece of chunk c as regions, and what makes a round out of what is done with one piece.
func ringAllReduce(first func(spec.Buf) gen.Region, chunk, piece func(spec.Buf, expr) gen.Region,
	each func(...gen.Node) []gen.Node) []gen.Node {
	c, d := v("c"), v("d")
	return []gen.Node{
		alone(gen.Copy{Into: first(out), From: first(in)}),
		aroundRing(rank, each(
			letBuf("partial", eq(v("s"), zero), in, out),
			gen.Step{
				gen.Send{To: next, Data: piece("partial", c)},
				gen.RecvReduce{From: prev, Into: piece(out, d), With: piece(in, d)},
			},
		)...),
		gen.Step{gen.Finish{Data: chunk(out, next)}}, // next is chunk 0 when there is one rank: Up(1, 1) = 0
		aroundRing(next, each(gen.Step{
			gen.Send{To: next, Data: piece(out, c)},
			gen.Recv{From: prev, Into: piece(out, d)},
		})...),
	}
}

// What the loops keep, for the proofs for every number of ranks.

var allGatherRingHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	// The blocks of the ranks behind have come, the nearest first.
	{Buf: out, Where: le(behind(rank, gen.Cell), turn), Chunk: zero, First: gen.Cell, Count: one},
}}}}

var reduceScatterRingHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	// What is sent next is the sum of what it came through: chunk c of the ranks from c+1 to this one.
	ringSum(scratch, and(lt(zero, turn), lt(turn, sub(size, one)), eq(gen.Cell, spec.BitAnd(sub(turn, one), one)))),
	ringSum(out, isLast),
	untouched(not(and(isLast, eq(gen.Cell, rank)))),
}}}}

// isLast holds after the last turn, when the sum is in out.
var isLast = eq(turn, sub(size, one))

func ringSum(buf spec.Buf, where expr) gen.Claim {
	count := add(turn, one)
	return gen.Claim{Buf: buf, Where: where, Chunk: v("c"), First: ranksFrom(count, up(add(v("c"), one), size)),
		Count: count}
}

// chunks are the cells of the n chunks of a ring from first on, around the ring. A ring's chunks have unit cells each,
// from base on.
type chunks struct{ base, unit expr }

// start returns the first cell of the chunk, which may be the one after the last.
func (r chunks) start(chunk expr) expr { return add(r.base, mul(chunk, r.unit)) }

func (r chunks) within(first, n expr) expr {
	end := add(first, n)
	wraps := lt(size, end)
	return and(le(r.base, gen.Cell), lt(gen.Cell, r.start(size)),
		or(and(not(wraps), le(r.start(first), gen.Cell), lt(gen.Cell, r.start(end))),
			and(wraps, or(le(r.start(first), gen.Cell), lt(gen.Cell, r.start(sub(end, size)))))))
}

// pieces returns the first n cells of a chunk.
func (r chunks) pieces(chunk, n expr) expr {
	return and(le(r.start(chunk), gen.Cell), lt(gen.Cell, add(r.start(chunk), n)))
}

// In turn s of the first loop a rank sends chunk c, which it has the sum of s+1 ranks of, and gets d; it has
// overwritten the s chunks from c on. In turn s of the second, it has the s+1 chunks from c on.
var (
	c, d     = v("c"), v("d")
	isSummed = or(lt(zero, turn), eq(size, one))
	noInput  = untouched(no)
)

// firstTrip and secondTrip are the invariants of the two loops of a ring all-reduce, where the cells done are finished
// already, and those behind rest are untouched.
func (r chunks) firstTrip(done, rest expr) gen.Invariant {
	return gen.Invariant{Claims: []gen.Claim{
		final(done),
		partial(and(isSummed, r.within(c, one)), c, add(turn, one)),
		untouched(and(rest, not(r.within(c, turn)))),
	}}
}

func (r chunks) secondTrip(done, rest expr) gen.Invariant {
	return gen.Invariant{Claims: []gen.Claim{final(or(done, r.within(c, add(turn, one)))), untouched(rest)}}
}

var plain = chunks{zero, one}

var allReduceRingHints = gen.Hints{Loops: []gen.Invariant{plain.firstTrip(no, yes), plain.secondTrip(no, no)}}

var inPieces = chunks{zero, depth}

var allReduceChunkedRingHints = gen.Hints{Loops: []gen.Invariant{
	inPieces.firstTrip(no, yes),
	{Claims: []gen.Claim{
		partial(and(isSummed, inPieces.within(c, one)), c, add(turn, one)),
		partial(inPieces.pieces(d, piece), d, add(turn, two)),
		untouched(not(or(inPieces.within(c, turn), inPieces.pieces(d, piece)))),
	}},
	inPieces.secondTrip(no, no),
	{Claims: []gen.Claim{final(or(inPieces.within(c, add(turn, one)), inPieces.pieces(d, piece))), noInput}},
}}

// A segment is a ring of its own, behind those that are done.
var (
	segment = chunks{mul(piece, size), one}
	before  = lt(gen.Cell, segment.base)
)

var allReduceSegmentedRingHints = gen.Hints{Loops: []gen.Invariant{
	{Claims: []gen.Claim{final(before), untouched(not(before))}},
	segment.firstTrip(before, not(before)),
	segment.secondTrip(before, le(mul(add(piece, one), size), gen.Cell)),
}}
