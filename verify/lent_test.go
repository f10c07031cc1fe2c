package verify_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// TestLentBlocks: what is lent may have several blocks, and lie in a buffer that the reduction then overwrites, block
// by block in its own place. Package bugs has what may not be lent.
func TestLentBlocks(t *testing.T) {
	for blocks := 1; blocks <= 3; blocks++ {
		a := oneShotOf(spec.Int(blocks))
		for size := 2; size <= 4; size++ {
			s, err := gen.Instantiate(&a, gen.Params{Size: size, Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, inPlace := range []bool{false, true} {
				if _, err := verify.Schedule(s, inPlace); err != nil {
					t.Errorf("%d blocks, %d ranks, in place %v: %v", blocks, size, inPlace, err)
				}
			}
		}
	}
}

// oneShotOf returns an all-reduce of so many blocks, in which every rank sends all it has to all others, and lends all
// it receives and its own to the reduction.
func oneShotOf(blocks spec.Expr) gen.Algorithm {
	from, to := spec.Var("from"), spec.Var("to")
	all := func(b spec.Buf) gen.Region { return gen.Span(b, spec.Int(0), blocks) }
	slot := func(rank spec.Expr) gen.Region { return gen.Span(spec.Scratch, spec.Mul(blocks, rank), blocks) }
	p := spec.AllReduce
	p.Name, p.In.Blocks, p.Out.Blocks = "AllReduceBlocks", blocks, blocks
	p.Post = []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Fold, Block: spec.Block}}}
	return gen.Algorithm{Name: "lent-blocks", Primitive: p, Doc: "It lends.", Source: "this test",
		Scratch: spec.Mul(blocks, spec.Size), Body: []gen.Node{gen.Step{
			gen.For{Var: "t", N: spec.Sub(spec.Size, spec.Int(1)), Body: []gen.Node{
				gen.Let{Name: "to", Is: spec.Up(spec.Add(spec.Add(spec.Rank, spec.Var("t")), spec.Int(1)), spec.Size)},
				gen.Let{Name: "from", Is: spec.Down(spec.Sub(spec.Sub(spec.Rank, spec.Var("t")), spec.Int(1)), spec.Size)},
				gen.Send{To: to, Data: all(spec.In)},
				gen.Recv{From: from, Into: slot(from), Lend: true},
			}},
			gen.Copy{Into: slot(spec.Rank), From: all(spec.In), Lend: true},
			gen.Reduce{Into: all(spec.Out), Var: "i", N: spec.Size, From: slot(spec.Var("i"))},
			gen.Finish{Data: all(spec.Out)},
		}}}
}
