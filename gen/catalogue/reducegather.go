package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// ReduceScatterGather reduces each of size chunks once around the ring, to its own rank, which sends it to the root.
var ReduceScatterGather = register(gen.Algorithm{
	Name:      "scatter-gather",
	Primitive: spec.Reduce,
	Doc: "A reduce-scatter around the ring, whose chunks the root gathers: no rank sends, receives or reduces more than " +
		"twice the block, for long messages.",
	Source:   thakur,
	Requires: gen.Requires{Commutative: true},
	Chunks:   size,
	Scratch:  mul(two, least(one, last)),
	Body: slices.Concat(ring, []gen.Node{gen.If{
		Cond: eq(size, one),
		Then: []gen.Node{gen.Step{gen.Copy{Into: block(out), From: block(in)}, gen.Finish{Data: block(out)}}},
		Else: []gen.Node{
			aroundRing(prev,
				// Partial sums wait in two slots by turns: one is sent while the other is filled.
				letBuf("partial", eq(turn, zero), in, scratch),
				let("at", cond(eq(turn, zero), v("c"), bitAnd(sub(turn, one), one))),
				gen.Step{
					gen.Send{To: next, Data: gen.Slot("partial", v("at"), v("c"))},
					gen.RecvReduce{From: prev, Into: gen.Slot(scratch, bitAnd(turn, one), v("d")), With: gen.Chunk(in, v("d"))},
				},
			),
			gen.Step{gen.Finish{Data: mine}},
			gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Step{
				others(gen.Recv{From: v("from"), Into: gen.Chunk(out, v("from"))}),
				gen.Copy{Into: gen.Chunk(out, rank), From: mine},
			}}, Else: []gen.Node{gen.Step{gen.Send{To: root, Data: mine}}}},
		},
	}}),
	Hints: gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		ringSum(scratch, and(lt(zero, turn), eq(gen.Cell, spec.BitAnd(sub(turn, one), one)))),
	}}}},
	Cost: gen.Cost{Alpha: mul(two, last), Beta: mul(two, last), Gamma: last},
})

// mine is the slot with the sum of this rank's chunk, which the last turn filled.
var mine = gen.Slot(scratch, bitAnd(size, one), rank)
