package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"

	"github.com/collgen/collgen/spec"
)

// BroadcastScatterAllGather scatters chunks of the block and gathers them everywhere.
//
// Ranks are counted from the root: the rank at place p gets the chunks p..p+mine-1 by the scatter, of which chunk p is
// its own. The all-gather is the ring without what is there already: the root receives nothing.
var BroadcastScatterAllGather = register(gen.Algorithm{
	Name:      "scatter-allgather",
	Primitive: spec.Broadcast,
	Doc: "A binomial scatter of size chunks and an all-gather around the ring: no rank sends more than twice the " +
		"block, for long messages.",
	Source: "Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor collective communication library " +
		"(InterCom), SHPCC 1994; Zhou, Marjanović, Niethammer, Gracia: A bandwidth-saving optimization for MPI broadcast " +
		"collective operation, ICPPW 2015",
	Chunks: size,
	Body: slices.Concat(chain, []gen.Node{
		let("levels", ceilLog2(size)),
		letBuf("data", eq(rank, root), in, out),
		loop("k", v("levels"), []gen.Node{
			let("half", shl(one, sub(sub(v("levels"), one), v("k")))),
			let("low", bitAnd(place, sub(mul(two, v("half")), one))),
			gen.If{Cond: and(eq(v("low"), zero), lt(add(place, v("half")), size)), Then: []gen.Node{
				let("to", up(add(rank, v("half")), size)),
				let("first", add(place, v("half"))),
				gen.Step{gen.Send{To: v("to"), Data: gen.Span("data", v("first"), least(v("half"), sub(size, v("first"))))}},
			}},
			gen.If{Cond: eq(v("low"), v("half")), Then: []gen.Node{
				let("from", down(sub(rank, v("half")), size)),
				gen.Step{gen.Recv{From: v("from"), Into: gen.Span(out, place, least(v("half"), sub(size, place)))}},
			}},
		}),
		let("mine", cond(eq(rank, root), size, subtree(place))),
		let("theirs", cond(eq(next, root), size, subtree(add(place, one)))),
		loop("s", last, []gen.Node{
			let("c", down(sub(place, v("s")), size)),
			let("d", down(sub(v("c"), one), size)),
			gen.Step{
				gen.If{Cond: lt(v("s"), sub(size, v("theirs"))),
					Then: []gen.Node{gen.Send{To: next, Data: gen.Chunk("data", v("c"))}}},
				gen.If{Cond: lt(v("s"), sub(size, v("mine"))),
					Then: []gen.Node{gen.Recv{From: prev, Into: gen.Chunk(out, v("d"))}}},
			},
		}),
		gen.If{Cond: eq(rank, root),
			Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Span(out, zero, size), From: gen.Span(in, zero, size)}}}},
	}),
	Hints: broadcastScatterAllGatherHints,
	Cost:  gen.Cost{Alpha: add(ceilLog2(size), sub(size, one)), Beta: mul(two, sub(size, one)), Gamma: zero},
})

// subtree returns the number of ranks of the binomial subtree at a place that is not 0: the place's lowest bit, or
// fewer at the end.
func subtree(place expr) expr { return least(bitAnd(place, sub(zero, place)), sub(size, place)) }

// Scatter and all-gather: the rank at a place gets the chunks of its subtree first, and then all others around the
// ring.
var broadcastScatterAllGatherHints = func() gen.Hints {
	lowest := spec.BitAnd(place, sub(zero, place))
	subtree := spec.Min(lowest, sub(size, place))
	own := and(le(place, gen.Cell), lt(gen.Cell, add(place, subtree)))
	reach := spec.Shl(one, sub(v("levels"), v("k")))
	holds := func(where expr) gen.Invariant {
		return gen.Invariant{Claims: []gen.Claim{
			{Buf: out, Where: and(lt(zero, place), where), Chunk: gen.Cell, First: root, Count: one},
		}}
	}
	return gen.Hints{
		Loops: []gen.Invariant{
			holds(and(le(reach, lowest), own)),
			holds(or(own, le(behind(place, gen.Cell), turn))),
		},
		Together: [][2]int{{0, 1}},
	}
}()
