package gen

import "github.com/collgen/collgen/spec"

// The ring: every rank sends to the next one and receives from the one before it.
var (
	next = v("next")
	prev = v("prev")
	ring = []Node{
		Let{"next", up(add(rank, one), size)},
		Let{"prev", down(sub(rank, one), size)},
	}
)

// aroundRing is the body of size-1 rounds in which every rank sends chunk c to the next one and receives chunk d from the
// one before it; in the first round, c is first.
func aroundRing(first expr, round ...Node) Node {
	return For{"s", sub(size, one), append([]Node{
		Let{"c", down(sub(first, v("s")), size)},
		Let{"d", down(sub(v("c"), one), size)},
	}, round...)}
}

// AllGatherRing passes every block around the ring.
var AllGatherRing = register(Algorithm{
	Name:      "ring",
	Primitive: spec.AllGather,
	Doc: "Every block travels around the ring, one hop a step: neighbours alone talk, and each link carries the " +
		"fewest bytes.",
	Source: thakur,
	Body: append(ring[:len(ring):len(ring)],
		Step{Copy{Into: Chunk(out, rank), From: block(in)}},
		aroundRing(rank, Step{
			Send{next, Chunk(out, v("c"))},
			Recv{From: prev, Into: Chunk(out, v("d"))},
		}),
	),
	Cost: Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// ReduceScatterRing lets every block collect its sum on a trip around the ring that ends on its own rank.
var ReduceScatterRing = register(Algorithm{
	Name:      "ring",
	Primitive: spec.ReduceScatter,
	Doc: "The partial sum of every block travels around the ring to its own rank: the fewest bytes on every link, " +
		"for large messages.",
	Source:   patarasuk,
	Requires: Requires{Commutative: true},
	Scratch:  most(zero, least(two, sub(size, two))),
	Body: append(ring[:len(ring):len(ring)],
		alone(Copy{Into: block(out), From: block(in)}),
		aroundRing(prev,
			// Partial sums wait in two slots by turns: one is sent while the other is filled.
			LetBuf{"partial", eq(v("s"), zero), in, scratch},
			Let{"at", cond(eq(v("s"), zero), v("c"), bitAnd(sub(v("s"), one), one))},
			LetBuf{"sum", eq(v("s"), sub(size, two)), out, scratch},
			Let{"slot", cond(eq(v("s"), sub(size, two)), zero, bitAnd(v("s"), one))},
			Step{
				Send{next, Chunk("partial", v("at"))},
				RecvReduce{From: prev, Into: Chunk("sum", v("slot")), With: Chunk(in, v("d"))},
			},
		),
		Step{Finish{block(out)}},
	),
	Cost: Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// AllReduceRing reduces each of size chunks once around the ring, and then passes the results around it once more.
var AllReduceRing = register(Algorithm{
	Name:      "ring",
	Primitive: spec.AllReduce,
	Doc:       "A reduce-scatter and an all-gather around the ring: the fewest bytes on every link, for large messages.",
	Source:    patarasuk,
	Requires:  Requires{Commutative: true},
	Chunks:    size,
	Body:      append(ring[:len(ring):len(ring)], ringAllReduce(block, Chunk, Chunk, whole)...),
	Cost:      Cost{Alpha: mul(two, sub(size, one)), Beta: mul(two, sub(size, one)), Gamma: sub(size, one)},
})

// AllReduceChunkedRing is the ring with each of its chunks cut into depth pieces.
var AllReduceChunkedRing = register(Algorithm{
	Name:      "chunked-ring",
	Primitive: spec.AllReduce,
	Doc: "The ring in pieces: what a rank sends arrived depth steps earlier, so that no rank waits for a late one at once, " +
		"and a piece fits the cache; for the largest messages.",
	Source:   "NVIDIA NCCL 2, src/device/all_reduce.h, runRing",
	Requires: Requires{Commutative: true},
	Chunks:   mul(size, depth),
	Body: append(ring[:len(ring):len(ring)], ringAllReduce(
		func(buf spec.Buf) Region { return Span(buf, zero, depth) },
		func(buf spec.Buf, c expr) Region { return Span(buf, mul(c, depth), depth) },
		func(buf spec.Buf, c expr) Region { return Chunk(buf, add(mul(c, depth), v("q"))) },
		func(round ...Node) []Node { return []Node{For{"q", depth, round}} },
	)...),
	Cost: piecesCost,
})

// AllReduceSegmentedRing is a ring after the other, each on one of depth pieces of the block.
var AllReduceSegmentedRing = register(Algorithm{
	Name:      "segmented-ring",
	Primitive: spec.AllReduce,
	Doc: "One piece of the block after the other goes around the ring, twice: what was reduced is still in the cache when it is " +
		"passed on; for messages that are larger than a cache.",
	Source:   "Open MPI, coll_base_allreduce.c, ompi_coll_base_allreduce_intra_ring_segmented",
	Requires: Requires{Commutative: true},
	Chunks:   mul(size, depth),
	Body: append(ring[:len(ring):len(ring)], For{"q", depth, ringAllReduce(
		func(buf spec.Buf) Region { return Chunk(buf, v("q")) },
		ofSegment, ofSegment, whole,
	)}),
	Cost: piecesCost,
})

// ofSegment is chunk c of segment q of a block that has size chunks in each.
func ofSegment(buf spec.Buf, c expr) Region { return Chunk(buf, add(mul(v("q"), size), c)) }

// piecesCost is that of a ring in depth pieces, in chunks of a piece.
var piecesCost = Cost{
	Alpha: mul(mul(two, sub(size, one)), depth),
	Beta:  mul(mul(two, sub(size, one)), depth),
	Gamma: mul(sub(size, one), depth),
}

// whole makes a round of what is done with one piece where there is only one.
func whole(round ...Node) []Node { return round }

// ringAllReduce is the ring all-reduce, whose chunks may consist of pieces: the first chunk, chunk c and the current
// piece of chunk c as regions, and what makes a round out of what is done with one piece.
func ringAllReduce(first func(spec.Buf) Region, chunk, piece func(spec.Buf, expr) Region, each func(...Node) []Node) []Node {
	c, d := v("c"), v("d")
	return []Node{
		alone(Copy{Into: first(out), From: first(in)}),
		aroundRing(rank, each(
			LetBuf{"partial", eq(v("s"), zero), in, out},
			Step{
				Send{next, piece("partial", c)},
				RecvReduce{From: prev, Into: piece(out, d), With: piece(in, d)},
			},
		)...),
		Step{Finish{chunk(out, next)}}, // next is chunk 0 when there is one rank: Up(1, 1) = 0
		aroundRing(next, each(Step{
			Send{next, piece(out, c)},
			Recv{From: prev, Into: piece(out, d)},
		})...),
	}
}
