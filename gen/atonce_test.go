package gen_test

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// TestReducesAtOnce compares what is read from the text of all algorithms with their schedules: whether every reduction
// has as many operands as there are blocks in a result.
func TestReducesAtOnce(t *testing.T) {
	reducing := 0
	for _, a := range catalogue.Algorithms() {
		some, all := false, true
		for size := 3; size <= 9; size++ {
			for _, p := range a.Calls(size, 1) {
				s, err := gen.Instantiate(&a, p)
				if err != nil {
					t.Fatalf("%s: %v", a.FullName(), err)
				}
				for rank := range s.Ranks {
					want := operandsOf(a.Primitive, rank, size)
					for _, in := range s.Ranks[rank].Instrs {
						is := in.Kind == gen.ReduceInstr || in.Kind == gen.RecvReduceInstr
						some, all = some || is, all && (!is || in.Kind == gen.ReduceInstr && len(in.Srcs) == want)
					}
				}
			}
		}
		if got, want := a.ReducesAtOnce(), some && all; got != want {
			t.Errorf("%s: at once: %v, its schedules: %v", a.FullName(), got, want)
		}
		if a.ReducesAtOnce() {
			reducing++
		}
	}
	if reducing < 5 {
		t.Errorf("%d algorithms reduce at once", reducing)
	}
}

// operandsOf returns how many blocks are in a result of rank.
func operandsOf(p spec.Primitive, rank, size int) int {
	switch p.Name {
	case spec.Scan.Name:
		return rank + 1
	case spec.Exscan.Name:
		return rank
	}
	return size
}

// TestReducesInTurn: what reduces some operands before others is not taken for an algorithm that reduces at once.
func TestReducesInTurn(t *testing.T) {
	linear := catalogue.ReduceLinear
	if !linear.ReducesAtOnce() {
		t.Fatal("reduce/linear does not reduce at once")
	}
	reduce := gen.Reduce{Into: gen.Chunk(spec.Out, spec.Int(0)), Var: "i", N: spec.Sub(spec.Size, spec.Int(1)),
		From: gen.Chunk(spec.Scratch, spec.Var("i"))}
	received := gen.RecvReduce{From: spec.Root, Into: reduce.Into, With: reduce.Into}
	for _, n := range []gen.Node{reduce, received, gen.For{Var: "j", N: spec.Int(1), Body: []gen.Node{gen.Step{reduce}}}} {
		for _, body := range [][]gen.Node{{n}, nil} { // before and after what reduces at once
			a := linear
			a.Body = slices.Concat(body, a.Body, []gen.Node{n}[len(body):])
			if a.ReducesAtOnce() {
				t.Errorf("with %T: at once", n)
			}
		}
	}
}

// TestReducesUnlike: where results reduce different operands, no algorithm is taken for one that reduces at once.
func TestReducesUnlike(t *testing.T) {
	for _, where := range []spec.Expr{spec.Lt(spec.Q, spec.Rank), spec.Eq(spec.Q, spec.Rank)} {
		a := catalogue.ReduceLinear
		a.Primitive.Post = append(slices.Clone(a.Primitive.Post), spec.Clause{Buf: spec.Out,
			Value: spec.Value{Kind: spec.Fold, Block: spec.Int(0), Where: where}})
		if a.ReducesAtOnce() {
			t.Errorf("with operands where %v: at once", where)
		}
		a.Primitive.Post = a.Primitive.Post[len(a.Primitive.Post)-1:]
		if a.ReducesAtOnce() {
			t.Errorf("of operands where %v: at once", where)
		}
	}
}
