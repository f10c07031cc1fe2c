package gen

import "github.com/collgen/collgen/spec"

// The linear algorithms: the root talks to every other rank by itself.

// BroadcastLinear has the root send the block to every rank.
var BroadcastLinear = register(Algorithm{
	Name:      "linear",
	Primitive: spec.Broadcast,
	Doc: "The root sends the block to all others in a single step, and waits for none of them: for few ranks, and where memory " +
		"that all of them read is written once.",
	Source: "Open MPI, coll_base_bcast.c, ompi_coll_base_bcast_intra_basic_linear",
	Body: []Node{If{
		Cond: eq(rank, root),
		Then: []Node{
			Step{others(Send{v("to"), block(in)})},
			Step{Copy{Into: block(out), From: block(in)}},
		},
		Else: []Node{Step{Recv{From: root, Into: block(out)}}},
	}},
	Cost: Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// ReduceLinear has every rank send its block to the root, which reduces in rank order.
var ReduceLinear = register(Algorithm{
	Name:      "linear",
	Primitive: spec.Reduce,
	Doc: "The root receives every block from its rank and reduces all of them in rank order: a single step, for short messages " +
		"and few ranks.",
	Source:  "Open MPI, coll_base_reduce.c, ompi_coll_base_reduce_intra_basic_linear",
	Scratch: size,
	Body: rootAlone(
		Step{
			others(Recv{From: v("from"), Into: Chunk(scratch, v("from")), Lend: true}),
			Copy{Into: Chunk(scratch, rank), From: block(in), Lend: true},
			Reduce{Into: block(out), Var: "i", N: size, From: Chunk(scratch, v("i"))},
			Finish{block(out)},
		},
		Step{Send{root, block(in)}},
	),
	Cost: Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// ScatterLinear has the root send every block to its rank.
var ScatterLinear = register(Algorithm{
	Name:      "linear",
	Primitive: spec.Scatter,
	Doc: "The root sends every block to its rank in a single step: nothing is sent twice, for long messages and " +
		"few ranks.",
	Source: vandegeijn,
	Body: rootAlone(
		Step{
			others(Send{v("to"), Chunk(in, v("to"))}),
			Copy{Into: block(out), From: Chunk(in, rank)},
		},
		Step{Recv{From: root, Into: block(out)}},
	),
	Cost: Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// GatherLinear has every rank send its block to the root.
var GatherLinear = register(Algorithm{
	Name:      "linear",
	Primitive: spec.Gather,
	Doc: "The root receives every block from its rank in a single step: nothing is sent twice, for long messages " +
		"and few ranks.",
	Source: vandegeijn,
	Body: rootAlone(
		Step{
			others(Recv{From: v("from"), Into: Chunk(out, v("from"))}),
			Copy{Into: Chunk(out, rank), From: block(in)},
		},
		Step{Send{root, block(in)}},
	),
	Cost: Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// SendDirect is one message.
var SendDirect = register(Algorithm{
	Name:      "direct",
	Primitive: spec.Send,
	Doc:       "One message from the sender to the receiver.",
	Source:    "MPI Forum: MPI: A Message-Passing Interface Standard, version 4.1, 2023, section 3.2",
	Body: []Node{
		If{Cond: eq(rank, root), Then: []Node{Step{Send{spec.Peer, block(in)}}}},
		If{Cond: eq(rank, spec.Peer), Then: []Node{Step{Recv{From: root, Into: block(out)}}}},
	},
	Cost: Cost{Alpha: one, Beta: one, Gamma: zero},
})

// rootAlone is a body in which the root takes one step, and every other rank another.
func rootAlone(onRoot, elsewhere Step) []Node {
	return []Node{If{Cond: eq(rank, root), Then: []Node{onRoot}, Else: []Node{elsewhere}}}
}
