package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// BroadcastScatterAllGather scatters chunks of the block and gathers them everywhere.
//
// Ranks are counted from the root: the rank at place p gets the chunks p..p+mine-1 by the scatter, of which chunk p is
// its own. The all-gather is the ring without what is there already: the root receives nothing.
var BroadcastScatterAllGather = register(Algorithm{
	Name:      "scatter-allgather",
	Primitive: spec.Broadcast,
	Doc: "A binomial scatter of size chunks and an all-gather around the ring: no rank sends more than twice the " +
		"block, for long messages.",
	Source: "Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor collective communication library " +
		"(InterCom), SHPCC 1994; Zhou, Marjanović, Niethammer, Gracia: A bandwidth-saving optimization for MPI broadcast collective operation, ICPPW 2015",
	Chunks: size,
	Body: slices.Concat(chain, []Node{
		Let{"levels", ceilLog2(size)},
		LetBuf{"data", eq(rank, root), in, out},
		For{"k", v("levels"), []Node{
			Let{"half", shl(one, sub(sub(v("levels"), one), v("k")))},
			Let{"low", bitAnd(place, sub(mul(two, v("half")), one))},
			If{Cond: and(eq(v("low"), zero), lt(add(place, v("half")), size)), Then: []Node{
				Let{"to", up(add(rank, v("half")), size)},
				Let{"first", add(place, v("half"))},
				Step{Send{v("to"), Span("data", v("first"), least(v("half"), sub(size, v("first"))))}},
			}},
			If{Cond: eq(v("low"), v("half")), Then: []Node{
				Let{"from", down(sub(rank, v("half")), size)},
				Step{Recv{From: v("from"), Into: Span(out, place, least(v("half"), sub(size, place)))}},
			}},
		}},
		Let{"mine", cond(eq(rank, root), size, subtree(place))},
		Let{"theirs", cond(eq(next, root), size, subtree(add(place, one)))},
		For{"s", last, []Node{
			Let{"c", down(sub(place, v("s")), size)},
			Let{"d", down(sub(v("c"), one), size)},
			Step{
				If{Cond: lt(v("s"), sub(size, v("theirs"))), Then: []Node{Send{next, Chunk("data", v("c"))}}},
				If{Cond: lt(v("s"), sub(size, v("mine"))), Then: []Node{Recv{From: prev, Into: Chunk(out, v("d"))}}},
			},
		}},
		If{Cond: eq(rank, root), Then: []Node{Step{Copy{Into: Span(out, zero, size), From: Span(in, zero, size)}}}},
	}),
	Cost: Cost{Alpha: add(ceilLog2(size), sub(size, one)), Beta: mul(two, sub(size, one)), Gamma: zero},
})

// subtree is the number of ranks of the binomial subtree at a place that is not 0: the place's lowest bit, or fewer at
// the end.
func subtree(place expr) expr { return least(bitAnd(place, sub(zero, place)), sub(size, place)) }
