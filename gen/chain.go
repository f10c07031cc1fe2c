package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// The pipelined chain: the ranks in a row, from the root on and around, with the block in depth chunks one behind the
// other.
var chain = append(ring[:len(ring):len(ring)], Let{"place", down(sub(rank, root), size)})

var (
	place = v("place") // this rank's place in the row; the root's is 0
	last  = sub(size, one)
	now   = v("i")
	then  = sub(v("i"), one) // the chunk before
)

// BroadcastChain passes chunk after chunk along the row.
var BroadcastChain = register(Algorithm{
	Name:      "chain",
	Primitive: spec.Broadcast,
	Doc: "The ranks in a row pass on chunk after chunk, each receiving one while it sends the one before: for " +
		"long messages.",
	Source: "Worringen: Pipelining and overlapping for MPI collective operations, LCN 2003; Open MPI, " +
		"coll_base_bcast.c, pipeline",
	Chunks: depth,
	Body: slices.Concat(chain, []Node{
		LetBuf{"data", eq(rank, root), in, out},
		For{"i", add(depth, one), []Node{Step{
			If{Cond: and(gt(now, zero), lt(place, last)), Then: []Node{Send{next, Chunk("data", then)}}},
			If{Cond: and(lt(now, depth), gt(place, zero)), Then: []Node{Recv{From: prev, Into: Chunk(out, now)}}},
		}}},
		If{Cond: eq(rank, root), Then: []Node{Step{Copy{Into: Span(out, zero, depth), From: Span(in, zero, depth)}}}},
	}),
	Cost: Cost{Alpha: add(sub(size, two), depth), Beta: add(sub(size, two), depth), Gamma: zero},
})

// ReduceChain passes partial sums of chunk after chunk along the row, to its root.
var ReduceChain = register(Algorithm{
	Name:      "chain",
	Primitive: spec.Reduce,
	Doc: "The ranks in a row add to chunk after chunk, each receiving one while it sends the one before: for long " +
		"messages.",
	Source: "Worringen: Pipelining and overlapping for MPI collective operations, LCN 2003; Open MPI, " +
		"coll_base_reduce.c, pipeline",
	Requires: Requires{Commutative: true},
	Chunks:   depth,
	Scratch:  least(depth, two),
	Body: slices.Concat(chain, []Node{
		alone(Copy{Into: Span(out, zero, depth), From: Span(in, zero, depth)}, Finish{Span(out, zero, depth)}),
		// Inner ranks keep partial sums in two slots by turns: one is sent while the other is filled.
		LetBuf{"sum", eq(rank, root), out, scratch},
		LetBuf{"sent", eq(place, last), in, scratch},
		For{"i", add(depth, one), []Node{
			Let{"at", cond(eq(rank, root), now, bitAnd(now, one))},
			Let{"from", cond(eq(place, last), then, bitAnd(then, one))},
			Step{
				If{Cond: and(gt(now, zero), gt(place, zero)), Then: []Node{Send{prev, Slot("sent", v("from"), then)}}},
				If{Cond: and(lt(now, depth), lt(place, last)), Then: []Node{
					RecvReduce{From: next, Into: Slot("sum", v("at"), now), With: Chunk(in, now)},
					If{Cond: eq(rank, root), Then: []Node{Finish{Chunk(out, now)}}},
				}},
			},
		}},
	}),
	Cost: Cost{Alpha: add(sub(size, two), depth), Beta: add(sub(size, two), depth), Gamma: add(sub(size, two), depth)},
})
