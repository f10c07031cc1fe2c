package edit

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// RootReceivesFirst is a reduction of two ranks that is right out of place alone, and does not say so: the root receives into Out
// before it reads In.
var RootReceivesFirst = gen.Algorithm{
	Name: "of two ranks", Primitive: spec.Reduce,
	Requires: gen.Requires{Size: spec.Eq(spec.Size, spec.Int(2)), Commutative: true}, Scratch: spec.Int(2),
	Body: []gen.Node{gen.If{Cond: spec.Eq(spec.Rank, spec.Root), Then: []gen.Node{gen.Step{
		gen.Recv{From: spec.Sub(spec.Int(1), spec.Rank), Into: gen.Chunk(spec.Out, spec.Int(0))},
		gen.Copy{Into: gen.Chunk(spec.Scratch, spec.Int(0)), From: gen.Chunk(spec.In, spec.Int(0))},
		gen.Copy{Into: gen.Chunk(spec.Scratch, spec.Int(1)), From: gen.Chunk(spec.Out, spec.Int(0))},
		gen.Reduce{Into: gen.Chunk(spec.Out, spec.Int(0)), Var: "i", N: spec.Int(2), From: gen.Chunk(spec.Scratch, spec.Var("i"))},
		gen.Finish{Data: gen.Chunk(spec.Out, spec.Int(0))},
	}}, Else: []gen.Node{gen.Step{gen.Send{To: spec.Sub(spec.Int(1), spec.Rank), Data: gen.Chunk(spec.In, spec.Int(0))}}}}},
}
