package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The linear algorithms: the root talks to every other rank by itself.

// BroadcastLinear has the root send the block to every rank.
var BroadcastLinear = register(gen.Algorithm{
	Name:      "linear",
	Primitive: spec.Broadcast,
	Doc: "The root sends the block to all others in a single step, and waits for none of them: for few ranks, and " +
		"where memory that all of them read is written once.",
	Source: "Open MPI, coll_base_bcast.c, ompi_coll_base_bcast_intra_basic_linear",
	Body: []gen.Node{gen.If{
		Cond: eq(rank, root),
		Then: []gen.Node{
			gen.Step{others(gen.Send{To: v("to"), Data: block(in)})},
			gen.Step{gen.Copy{Into: block(out), From: block(in)}},
		},
		Else: []gen.Node{gen.Step{gen.Recv{From: root, Into: block(out)}}},
	}},
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// ReduceLinear has every rank send its block to the root, which reduces in rank order.
var ReduceLinear = register(gen.Algorithm{
	Name:      "linear",
	Primitive: spec.Reduce,
	Doc: "The root receives every block from its rank and reduces all of them in rank order: a single step, for " +
		"short messages and few ranks.",
	Source:  "Open MPI, coll_base_reduce.c, ompi_coll_base_reduce_intra_basic_linear",
	Scratch: size,
	Body: rootAlone(
		gen.Step{
			others(gen.Recv{From: v("from"), Into: gen.Chunk(scratch, v("from")), Lend: true}),
			gen.Copy{Into: gen.Chunk(scratch, rank), From: block(in), Lend: true},
			gen.Reduce{Into: block(out), Var: "i", N: size, From: gen.Chunk(scratch, v("i"))},
			gen.Finish{Data: block(out)},
		},
		gen.Step{gen.Send{To: root, Data: block(in)}},
	),
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: sub(size, one)},
})

// ScatterLinear has the root send every block to its rank.
var ScatterLinear = register(gen.Algorithm{
	Name:      "linear",
	Primitive: spec.Scatter,
	Doc: "The root sends every block to its rank in a single step: nothing is sent twice, for long messages and " +
		"few ranks.",
	Source: vandegeijn,
	Body: rootAlone(
		gen.Step{
			others(gen.Send{To: v("to"), Data: gen.Chunk(in, v("to"))}),
			gen.Copy{Into: block(out), From: gen.Chunk(in, rank)},
		},
		gen.Step{gen.Recv{From: root, Into: block(out)}},
	),
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// GatherLinear has every rank send its block to the root.
var GatherLinear = register(gen.Algorithm{
	Name:      "linear",
	Primitive: spec.Gather,
	Doc: "The root receives every block from its rank in a single step: nothing is sent twice, for long messages " +
		"and few ranks.",
	Source: vandegeijn,
	Body: rootAlone(
		gen.Step{
			others(gen.Recv{From: v("from"), Into: gen.Chunk(out, v("from"))}),
			gen.Copy{Into: gen.Chunk(out, rank), From: block(in)},
		},
		gen.Step{gen.Send{To: root, Data: block(in)}},
	),
	Cost: gen.Cost{Alpha: sub(size, one), Beta: sub(size, one), Gamma: zero},
})

// SendDirect is one message.
var SendDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.Send,
	Doc:       "One message from the sender to the receiver.",
	Source:    "MPI Forum: MPI: A Message-Passing Interface Standard, version 4.1, 2023, section 3.2",
	Body: []gen.Node{
		gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Step{gen.Send{To: spec.Peer, Data: block(in)}}}},
		gen.If{Cond: eq(rank, spec.Peer), Then: []gen.Node{gen.Step{gen.Recv{From: root, Into: block(out)}}}},
	},
	Hints: sendDirectHints,
	Cost:  gen.Cost{Alpha: one, Beta: one, Gamma: zero},
})

// rootAlone returns a body in which the root takes one step, and every other rank another.
func rootAlone(onRoot, elsewhere gen.Step) []gen.Node {
	return []gen.Node{gen.If{Cond: eq(rank, root), Then: []gen.Node{onRoot}, Else: []gen.Node{elsewhere}}}
}

var sendDirectHints = gen.Hints{Together: [][2]int{{0, 1}}}
