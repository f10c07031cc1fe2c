package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"

	"github.com/collgen/collgen/spec"
)

// The pipelined chain: the ranks in a row, from the root on and around, with the block in depth chunks one behind the
// other.
var chain = append(ring[:len(ring):len(ring)], let("place", down(sub(rank, root), size)))

var (
	place = v("place") // this rank's place in the row; the root's is 0
	last  = sub(size, one)
	now   = v("i")
	then  = sub(v("i"), one) // the chunk before
)

// BroadcastChain passes chunk after chunk along the row.
var BroadcastChain = register(gen.Algorithm{
	Name:      "chain",
	Primitive: spec.Broadcast,
	Doc: "The ranks in a row pass on chunk after chunk, each receiving one while it sends the one before: for " +
		"long messages.",
	Source: "Worringen: Pipelining and overlapping for MPI collective operations, LCN 2003; Open MPI, " +
		"coll_base_bcast.c, pipeline",
	Chunks: depth,
	Body: slices.Concat(chain, []gen.Node{
		letBuf("data", eq(rank, root), in, out),
		loop("i", add(depth, one), []gen.Node{gen.Step{
			gen.If{Cond: and(gt(now, zero), lt(place, last)),
				Then: []gen.Node{gen.Send{To: next, Data: gen.Chunk("data", then)}}},
			gen.If{Cond: and(lt(now, depth), gt(place, zero)),
				Then: []gen.Node{gen.Recv{From: prev, Into: gen.Chunk(out, now)}}},
		}}),
		gen.If{Cond: eq(rank, root),
			Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Span(out, zero, depth), From: gen.Span(in, zero, depth)}}}},
	}),
	Hints: broadcastChainHints,
	Cost:  gen.Cost{Alpha: add(sub(size, two), depth), Beta: add(sub(size, two), depth), Gamma: zero},
})

// ReduceChain passes partial sums of chunk after chunk along the row, to its root.
var ReduceChain = register(gen.Algorithm{
	Name:      "chain",
	Primitive: spec.Reduce,
	Doc: "The ranks in a row add to chunk after chunk, each receiving one while it sends the one before: for long " +
		"messages.",
	Source: "Worringen: Pipelining and overlapping for MPI collective operations, LCN 2003; Open MPI, " +
		"coll_base_reduce.c, pipeline",
	Requires: gen.Requires{Commutative: true},
	Chunks:   depth,
	Scratch:  least(depth, two),
	Body: slices.Concat(chain, []gen.Node{
		alone(gen.Copy{Into: gen.Span(out, zero, depth), From: gen.Span(in, zero, depth)},
			gen.Finish{Data: gen.Span(out, zero, depth)}),
		// Inner ranks keep partial sums in two slots by turns: one is sent while the other is filled.
		letBuf("sum", eq(rank, root), out, scratch),
		letBuf("sent", eq(place, last), in, scratch),
		loop("i", add(depth, one), []gen.Node{
			let("at", cond(eq(rank, root), now, bitAnd(now, one))),
			let("from", cond(eq(place, last), then, bitAnd(then, one))),
			gen.Step{
				gen.If{Cond: and(gt(now, zero), gt(place, zero)),
					Then: []gen.Node{gen.Send{To: prev, Data: gen.Slot("sent", v("from"), then)}}},
				gen.If{Cond: and(lt(now, depth), lt(place, last)), Then: []gen.Node{
					gen.RecvReduce{From: next, Into: gen.Slot("sum", v("at"), now), With: gen.Chunk(in, now)},
					gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Finish{Data: gen.Chunk(out, now)}}},
				}},
			},
		}),
	}),
	Hints: reduceChainHints,
	Cost: gen.Cost{Alpha: add(sub(size, two), depth), Beta: add(sub(size, two), depth),
		Gamma: add(sub(size, two), depth)},
})

// What the loops keep, for the proofs for every number of ranks.

// The chains: the rank at a place gets what the one before it has, one turn later.

var broadcastChainHints = gen.Hints{Loops: []gen.Invariant{{
	Skew: place,
	Claims: []gen.Claim{
		{Buf: out, Where: and(lt(zero, place), lt(gen.Cell, now)), Chunk: gen.Cell, First: root, Count: one},
	},
}}}

var reduceChainHints = gen.Hints{Loops: []gen.Invariant{{
	Skew: sub(zero, place),
	Claims: []gen.Claim{
		final(and(eq(rank, root), or(lt(gen.Cell, now), eq(size, one)))),
		// The chunk before, summed over this rank and those behind it.
		{Buf: scratch, Where: and(not(eq(rank, root)), lt(place, sub(size, one)), lt(zero, now), le(now, depth),
			eq(gen.Cell, spec.BitAnd(sub(now, one), one))), Chunk: sub(now, one), First: rank, Count: sub(size, place)},
		untouched(or(not(eq(rank, root)), and(le(now, gen.Cell), not(eq(size, one))))),
	},
}}}
