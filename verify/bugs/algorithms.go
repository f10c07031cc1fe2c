package bugs

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/internal/edit"
)

func commutative(a *gen.Algorithm) { a.Requires.Commutative = true }

// receiveFirst has the all-reduce ring receive into the result and reduce afterwards.
func receiveFirst(a *gen.Algorithm) {
	a.Scratch = two
	edit.Nth(0, func(x gen.RecvReduce) []gen.Node {
		d := v("d")
		return []gen.Node{
			gen.Recv{From: x.From, Into: x.Into},
			gen.Copy{Into: gen.Slot(spec.Scratch, zero, d), From: x.With},
			gen.Copy{Into: gen.Slot(spec.Scratch, one, d), From: x.Into},
			gen.Reduce{Into: x.Into, Var: "o", N: two, From: gen.Slot(spec.Scratch, v("o"), d)},
		}
	})(a)
}

// bothWays is an all-gather whose blocks travel around the ring in halves, one half in each direction.
var bothWays = gen.Algorithm{
	Name: "both ways", Primitive: spec.AllGather, Chunks: two,
	Body: []gen.Node{
		gen.Let{Name: "next", Is: spec.Up(spec.Add(spec.Rank, one), spec.Size)},
		gen.Let{Name: "prev", Is: spec.Down(spec.Sub(spec.Rank, one), spec.Size)},
		gen.Step{gen.Copy{Into: gen.Span(spec.Out, spec.Mul(two, spec.Rank), two), From: gen.Span(spec.In, zero, two)}},
		gen.For{Var: "s", N: spec.Sub(spec.Size, one), Body: []gen.Node{
			gen.Let{Name: "c", Is: spec.Down(spec.Sub(spec.Rank, v("s")), spec.Size)},
			gen.Let{Name: "d", Is: spec.Down(spec.Sub(v("c"), one), spec.Size)},
			gen.Let{Name: "e", Is: spec.Up(spec.Add(spec.Rank, v("s")), spec.Size)},
			gen.Let{Name: "f", Is: spec.Up(spec.Add(v("e"), one), spec.Size)},
			gen.Step{
				gen.Send{To: v("next"), Data: gen.Chunk(spec.Out, spec.Mul(two, v("c")))},
				gen.Send{To: v("prev"), Data: gen.Chunk(spec.Out, spec.Add(spec.Mul(two, v("e")), one))},
				gen.Recv{From: v("prev"), Into: gen.Chunk(spec.Out, spec.Mul(two, v("d")))},
				gen.Recv{From: v("next"), Into: gen.Chunk(spec.Out, spec.Add(spec.Mul(two, v("f")), one))},
			},
		}},
	},
}

// ofTwoRanks is a reduction of two ranks. Its root receives into the result, after a step in which it reads its
// operand.
var ofTwoRanks = gen.Algorithm{
	Name: "of two ranks", Primitive: spec.Reduce,
	Requires: gen.Requires{Size: spec.Eq(spec.Size, two), Commutative: true}, Scratch: two,
	Body: []gen.Node{gen.If{Cond: spec.Eq(spec.Rank, spec.Root), Then: []gen.Node{
		gen.Step{gen.Copy{Into: gen.Chunk(spec.Scratch, zero), From: gen.Chunk(spec.In, zero)}},
		gen.Step{
			gen.Recv{From: spec.Sub(one, spec.Rank), Into: gen.Chunk(spec.Out, zero)},
			gen.Copy{Into: gen.Chunk(spec.Scratch, one), From: gen.Chunk(spec.Out, zero)},
			gen.Reduce{Into: gen.Chunk(spec.Out, zero), Var: "i", N: two, From: gen.Chunk(spec.Scratch, v("i"))},
			gen.Finish{Data: gen.Chunk(spec.Out, zero)},
		},
	}, Else: []gen.Node{gen.Step{gen.Send{To: spec.Sub(one, spec.Rank), Data: gen.Chunk(spec.In, zero)}}}}},
}

// inOneStep has the root read its operand in the step of the receive, and so after it.
func inOneStep(a *gen.Algorithm) {
	edit.Nth(0, func(x gen.If) []gen.Node {
		first, second := x.Then[0].(gen.Step), x.Then[1].(gen.Step)
		x.Then = []gen.Node{append(gen.Step{second[0], first[0]}, second[1:]...)}
		return []gen.Node{x}
	})(a)
}

// halves is a reduce-scatter of two ranks: each sends the other's half and reduces its own.
var halves = gen.Algorithm{
	Name: "halves", Primitive: spec.ReduceScatter, Requires: gen.Requires{Size: spec.Eq(spec.Size, two),
		Commutative: true},
	Body: []gen.Node{
		gen.Let{Name: "other", Is: spec.Sub(one, spec.Rank)},
		gen.Step{
			gen.Send{To: v("other"), Data: gen.Chunk(spec.In, v("other"))},
			gen.RecvReduce{From: v("other"), Into: gen.Chunk(spec.Out, zero), With: gen.Chunk(spec.In, spec.Rank)},
			gen.Finish{Data: gen.Chunk(spec.Out, zero)},
		},
	},
}

// overlapping has the first two of three ranks exchange two blocks, received one block after those that are sent.
var overlapping = gen.Algorithm{
	Name: "overlapping", Primitive: spec.AllGather, Requires: gen.Requires{Size: spec.Eq(spec.Size, spec.Int(3))},
	Body: []gen.Node{gen.If{Cond: spec.Lt(spec.Rank, two), Then: []gen.Node{gen.Step{
		gen.Send{To: spec.Sub(one, spec.Rank), Data: gen.Span(spec.Out, zero, two)},
		gen.Recv{From: spec.Sub(one, spec.Rank), Into: gen.Span(spec.Out, one, two), AfterSend: true},
	}}}},
}
