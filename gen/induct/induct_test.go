package induct_test

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// TestUnsupported has what there is no argument for: it is an error, and not a proof of less.
func TestUnsupported(t *testing.T) {
	receive := gen.Recv{From: spec.Root, Into: gen.Chunk(spec.Out, spec.Int(0))}
	ring, none := gen.AllGatherRing, induct.Hints{}
	for _, test := range []struct {
		a    gen.Algorithm
		h    induct.Hints
		says string
	}{
		{ring, none, "no invariant of the loop over s"},
		{gen.AllGatherDirect, induct.For(&ring), "invariants of 1 loops, and only 0"},
		{gen.SendDirect, none, "has no partner at its moment"},
		{with(gen.BroadcastLinear, gen.Step{receive}), none, "has no partner"},
		{with(gen.BroadcastLinear, gen.Step{receive, receive}), none, "one send and one receive at most"},
		{ring, induct.Hints{Loops: []induct.Invariant{{Claims: []induct.Claim{{Buf: spec.Out, Chunk: spec.Var("x"), First: spec.Rank, Count: spec.Int(1)}}}}},
			"x has no meaning"},
	} {
		_, err := induct.Obligations(&test.a, test.h)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %q", test.a.FullName(), err, test.says)
		}
	}
}

// with is a with other nodes for its body.
func with(a gen.Algorithm, body ...gen.Node) gen.Algorithm {
	a.Body = body
	return a
}

// TestHolds evaluates an obligation: it holds where its goal does, and where what it presumes does not.
func TestHolds(t *testing.T) {
	x, y := spec.Var("x"), spec.Var("y")
	o := induct.Obligation{
		Names: []induct.Name{{Name: "x", Min: spec.Int(0)}, {Name: "y", Is: spec.Add(x, spec.Int(1))}},
		Given: []spec.Expr{spec.Lt(x, spec.Int(5))},
		Goal:  spec.Le(y, spec.Int(4)),
	}
	for value, want := range map[int]bool{3: true, 4: false, 5: true} {
		if got, err := o.Holds(spec.Env{{Name: "x", Value: value}}); err != nil || got != want {
			t.Errorf("for x = %d it holds: %v (%v), want %v", value, got, err, want)
		}
	}
}

// TestEveryKind has each kind of obligation in the catalogue.
func TestEveryKind(t *testing.T) {
	kinds := map[string]int{}
	for _, a := range gen.Catalogue() {
		list, err := induct.Obligations(&a, induct.For(&a))
		if err != nil {
			t.Error(err)
		}
		for _, o := range list {
			kinds[o.Name]++
		}
	}
	for _, name := range []string{"chunks", "defined", "turns", "bounds", "matched", "distinct", "exclusive", "sent", "apart", "operands", "alias",
		"entry", "step", "post", "tree"} {
		if kinds[name] == 0 {
			t.Errorf("there is no obligation %q in %v", name, kinds)
		}
	}
}
