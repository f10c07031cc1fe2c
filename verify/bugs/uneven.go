package bugs

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// Lengths are mistakes about how long data is. All but the last are about uneven blocks.
var Lengths = []Bug{
	{What: "an uneven block off by one", In: catalogue.AllGatherVRing,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = spec.Up(spec.Add(x.Data.At, one), spec.Size) }),
		Check: verify.Length, Says: "one as long as block n["},
	{What: "uneven blocks that are swapped", In: catalogue.AllToAllVDirect,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = v("from") }), Check: verify.Length,
		Says: "a message as long as block n["},
	{What: "an uneven slot as long as the block that was sent", In: catalogue.ReduceScatterVRing,
		Plant: edit.Set(0, func(x *gen.RecvReduce) { x.Into.Counts = []spec.Expr{v("c")} }), Check: verify.Program,
		Says: "as long as block"},
	{What: "an uneven slot as long as the sender's block", In: catalogue.ReduceScatterVDirect,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.Counts = []spec.Expr{v("from")} }), Check: verify.Length,
		Says: "a message as long as block n["},
	{What: "an uneven slot of which nothing says how long it is", In: catalogue.ReduceScatterVDirect,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.Counts = nil }), Check: verify.Program, Says: "has 0 Counts"},
	{What: "two uneven blocks in one message", In: catalogue.AllGatherVRing,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data = gen.Span(spec.Out, zero, two) }), Check: verify.Program,
		Says: "not a single block"},
	{What: "uneven blocks in chunks", In: catalogue.AllGatherVRing,
		Plant: func(a *gen.Algorithm) { a.Chunks = two }, Check: verify.Program, Says: "cut into 2 chunks"},
	{What: "a block whose length the rank does not know", In: catalogue.AllToAllVDirect, Plant: edit.All(
		func(a *gen.Algorithm) { a.Scratch = spec.Size },
		edit.Set(0, func(x *gen.Recv) { x.Into = gen.BlockSlot(spec.Scratch, v("from"), v("from"), v("from")) }),
	), Check: verify.Known, Says: "a place as long as a block of this rank's buffers"},
	{What: "a chunk that travels as long as another", In: shortened, Check: verify.Length,
		Says: "wrote there, as long as chunk 0"},
}

// shortened has the root send the first of two chunks as long as the second, which may be an element shorter.
var shortened = gen.Algorithm{
	Name: "shortened", Primitive: spec.Broadcast, Chunks: two, Scratch: one,
	Requires: gen.Requires{Size: spec.Eq(spec.Size, two)},
	Body: []gen.Node{gen.If{Cond: spec.Eq(spec.Rank, spec.Root),
		Then: []gen.Node{
			gen.Step{gen.Copy{Into: gen.Slot(spec.Scratch, zero, zero), From: gen.Chunk(spec.In, zero)}},
			gen.Step{
				gen.Send{To: spec.Sub(one, spec.Rank), Data: gen.Slot(spec.Scratch, zero, one)},
				gen.Send{To: spec.Sub(one, spec.Rank), Data: gen.Chunk(spec.In, one)},
				gen.Copy{Into: gen.Span(spec.Out, zero, two), From: gen.Span(spec.In, zero, two)},
			}},
		Else: []gen.Node{
			gen.Step{
				gen.Recv{From: spec.Root, Into: gen.Slot(spec.Scratch, zero, one)},
				gen.Recv{From: spec.Root, Into: gen.Chunk(spec.Out, one)},
				gen.Copy{Into: gen.Chunk(spec.Out, zero), From: gen.Slot(spec.Scratch, zero, zero)},
			}},
	}},
}
