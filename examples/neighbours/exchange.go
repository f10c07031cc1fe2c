package main

import (
	"github.com/collgen/collgen/gen"
	w "github.com/collgen/collgen/gen/words"
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
		{Buf: spec.Out, Where: spec.Eq(spec.Block, spec.Int(0)),
			Value: spec.Value{Kind: spec.Input, Rank: before, Block: spec.Int(0)}},
		{Buf: spec.Out, Where: spec.Eq(spec.Block, spec.Int(1)),
			Value: spec.Value{Kind: spec.Input, Rank: after, Block: spec.Int(0)}},
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
	Source: "MPI Forum: MPI: A Message-Passing Interface Standard, version 4.1, 2023, section 8.6, " +
		"MPI_Neighbor_allgather",
	Body: []gen.Node{
		gen.Let{Name: "prev", Is: before},
		gen.Let{Name: "next", Is: after},
		w.IfElse("size == 1",
			[]gen.Node{w.Step(w.Copy("out[0]", "in[0]"), w.Copy("out[1]", "in[0]"))},
			// Messages between two ranks arrive in the order in which they were sent. Where both neighbours are the
			// same rank, the first message that it sends goes to its next one: here it comes from the previous one.
			[]gen.Node{w.Step(
				w.Send("next", "in[0]"),
				w.Send("prev", "in[0]"),
				w.Recv("prev", "out[0]"),
				w.Recv("next", "out[1]"),
			)}),
	},
	Cost: gen.Cost{Alpha: spec.Int(2), Beta: spec.Int(2), Gamma: spec.Int(0)},
}

// InTwoShifts is another way, which a call gets by fast.WithAlgorithm("shifts"). Its Hints say what is true before each
// turn of its loop: so collgen prove can show by induction that it is right for every number of ranks, and not for
// those alone that were tried.
var InTwoShifts = gen.Algorithm{
	Name:      "shifts",
	Primitive: Exchange,
	Doc: "Every rank passes its block on around the ring, and then back: for links that carry one " +
		"message at a time.",
	Source: "Gropp, Lusk, Skjellum: Using MPI, chapter 4, where two MPI_Sendrecv exchange the ghost points",
	Body: []gen.Node{
		gen.Let{Name: "prev", Is: before},
		gen.Let{Name: "next", Is: after},
		w.Loop("turn", "2",
			w.Let("to", "if turn == 0 then next else prev"),
			w.Let("from", "if turn == 0 then prev else next"),
			w.IfElse("size == 1",
				[]gen.Node{w.Step(w.Copy("out[turn]", "in[0]"))},
				[]gen.Node{w.Step(w.Send("to", "in[0]"), w.Recv("from", "out[turn]"))})),
	},
	// The blocks before the turn's own have come: the first is that of the rank before, the second that of the rank
	// after.
	Hints: gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{{
		Buf: spec.Out, Where: spec.Lt(gen.Cell, spec.Var("turn")),
		Chunk: spec.Int(0), First: spec.If(spec.Eq(gen.Cell, spec.Int(0)), before, after), Count: spec.Int(1),
	}}}}},
	Cost: gen.Cost{Alpha: spec.Int(2), Beta: spec.Int(2), Gamma: spec.Int(0)},
}
