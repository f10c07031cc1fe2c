package main

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

//go:generate go tool collgen gen

// The neighbours of a rank on the ring; of two ranks each is both neighbours of the other, of one it is its own.
var (
	before = spec.Down(spec.Sub(spec.Rank, spec.Int(1)), spec.Size)
	after  = spec.Up(spec.Add(spec.Rank, spec.Int(1)), spec.Size)
)

// Exchange is what is promised. Its name is exported only because linters take a variable that nothing but collgen
// reads for unused.
var Exchange = spec.Primitive{
	Name: "Neighbours",
	Doc:  "Neighbours gives every rank the blocks of the rank before it and of the rank after it, on a ring.",
	In:   spec.Buffer{Blocks: spec.Int(1)},
	Out:  spec.Buffer{Blocks: spec.Int(2)},
	Pre:  []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}},
	Post: []spec.Clause{
		{Buf: spec.Out, Where: spec.Eq(spec.Block, spec.Int(0)), Value: spec.Value{Kind: spec.Input, Rank: before, Block: spec.Int(0)}},
		{Buf: spec.Out, Where: spec.Eq(spec.Block, spec.Int(1)), Value: spec.Value{Kind: spec.Input, Rank: after, Block: spec.Int(0)}},
	},
	Examples: []spec.Example{
		{In: []string{"a", "b", "c"}, Out: []string{"c b", "a c", "b a"}}, // by rank
		{In: []string{"a"}, Out: []string{"a a"}},
	},
}

// InOneStep is how the ranks achieve it. As it has no loop, it is proved for every number of ranks without further
// words.
var InOneStep = gen.Algorithm{
	Name:      "ring",
	Primitive: Exchange,
	Doc:       "Every rank sends its block both ways at once.",
	Source:    "MPI Forum: MPI: A Message-Passing Interface Standard, version 4.1, 2023, section 8.6, MPI_Neighbor_allgather",
	Body: []gen.Node{
		gen.Let{Name: "prev", Is: before},
		gen.Let{Name: "next", Is: after},
		gen.If{
			Cond: spec.Eq(spec.Size, spec.Int(1)),
			Then: []gen.Node{gen.Step{
				gen.Copy{Into: gen.Chunk(spec.Out, spec.Int(0)), From: gen.Chunk(spec.In, spec.Int(0))},
				gen.Copy{Into: gen.Chunk(spec.Out, spec.Int(1)), From: gen.Chunk(spec.In, spec.Int(0))},
			}},
			// Messages between two ranks arrive in the order in which they were sent. Where both neighbours are the
			// same rank, the first message that it sends goes to its next one: here it comes from the previous one.
			Else: []gen.Node{gen.Step{
				gen.Send{To: spec.Var("next"), Data: gen.Chunk(spec.In, spec.Int(0))},
				gen.Send{To: spec.Var("prev"), Data: gen.Chunk(spec.In, spec.Int(0))},
				gen.Recv{From: spec.Var("prev"), Into: gen.Chunk(spec.Out, spec.Int(0))},
				gen.Recv{From: spec.Var("next"), Into: gen.Chunk(spec.Out, spec.Int(1))},
			}},
		},
	},
	Cost: gen.Cost{Alpha: spec.Int(2), Beta: spec.Int(2), Gamma: spec.Int(0)},
}

// InTwoShifts is another way, which a call gets by fast.WithAlgorithm("shifts"). Its Hints say what is true before each
// turn of its loop: so collgen prove can show by induction that it is right for every number of ranks, and not for
// those alone that were tried.
var InTwoShifts = gen.Algorithm{
	Name:      "shifts",
	Primitive: Exchange,
	Doc:       "Every rank passes its block on around the ring, and then back: for links that carry one message at a time.",
	Source:    "Gropp, Lusk, Skjellum: Using MPI, chapter 4, where two MPI_Sendrecv exchange the ghost points",
	Body: []gen.Node{
		gen.Let{Name: "prev", Is: before},
		gen.Let{Name: "next", Is: after},
		gen.For{Var: "turn", N: spec.Int(2), Body: []gen.Node{
			gen.Let{Name: "to", Is: spec.If(isFirst(spec.Var("turn")), spec.Var("next"), spec.Var("prev"))},
			gen.Let{Name: "from", Is: spec.If(isFirst(spec.Var("turn")), spec.Var("prev"), spec.Var("next"))},
			gen.If{
				Cond: spec.Eq(spec.Size, spec.Int(1)),
				Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(spec.Out, spec.Var("turn")), From: gen.Chunk(spec.In, spec.Int(0))}}},
				Else: []gen.Node{gen.Step{
					gen.Send{To: spec.Var("to"), Data: gen.Chunk(spec.In, spec.Int(0))},
					gen.Recv{From: spec.Var("from"), Into: gen.Chunk(spec.Out, spec.Var("turn"))},
				}},
			},
		}},
	},
	// The blocks before the turn's own have come: the first is that of the rank before, the second that of the rank
	// after.
	Hints: gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{{
		Buf: spec.Out, Where: spec.Lt(gen.Cell, spec.Var("turn")),
		Chunk: spec.Int(0), First: spec.If(isFirst(gen.Cell), before, after), Count: spec.Int(1),
	}}}}},
	Cost: gen.Cost{Alpha: spec.Int(2), Beta: spec.Int(2), Gamma: spec.Int(0)},
}

func isFirst(x spec.Expr) spec.Expr { return spec.Eq(x, spec.Int(0)) }
