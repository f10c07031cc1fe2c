package induct_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// TestUnsupported has what there is no argument for: it is an error, and not a proof of less.
func TestUnsupported(t *testing.T) {
	receive := gen.Recv{From: spec.Root, Into: gen.Chunk(spec.Out, spec.Int(0))}
	ring, none := catalogue.AllGatherRing, gen.Hints{}
	for _, test := range []struct {
		a    gen.Algorithm
		h    gen.Hints
		says string
	}{
		{ring, none, "no invariant of the loop over s, which has to say which cells of out hold what before each turn, " +
			"over rank, size, next, prev, c, d and s"},
		{catalogue.AllGatherDirect, ring.Hints, "invariants of 1 loops, and only 0"},
		{catalogue.SendDirect, none, "has no partner at its moment"},
		{with(catalogue.BroadcastLinear, gen.Step{receive}), none, "has no partner"},
		{with(catalogue.BroadcastLinear, gen.Step{receive, receive}), none, "has no partner"},
		{with(catalogue.BroadcastLinear, gen.Step{gen.For{Var: "t", N: spec.Int(2), Body: []gen.Node{receive, receive}}}),
			none, "outside of its loops"},
		{ring, gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{{Buf: spec.Out, Chunk: spec.Var("x"), First: spec.Rank,
			Count: spec.Int(1)}}}}},
			"x has no meaning"},
	} {
		_, err := induct.Obligations(&test.a, test.h)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %q", test.a.FullName(), err, test.says)
		}
	}
}

// TestTogetherInLoops has two ranks that send in the early turns of one loop and receive in the late turns of the next,
// or the reverse. In each turn a rank has a part in one of the loops at most, and each message has two ends: yet both
// send before they receive.
func TestTogetherInLoops(t *testing.T) {
	n, turn := spec.Int, spec.Var("a")
	isFirst, early, late := spec.Eq(spec.Rank, n(0)), spec.Lt(turn, n(2)), spec.Le(n(2), turn)
	other := spec.Sub(n(1), spec.Rank)
	loop := func(when spec.Expr, x gen.Node) gen.For {
		return gen.For{Var: "a", N: n(4), Body: []gen.Node{gen.If{Cond: when, Then: []gen.Node{gen.Step{x}}}}}
	}
	a := with(catalogue.AllGatherRing,
		gen.Step{gen.Copy{Into: gen.Chunk(spec.Out, spec.Rank), From: gen.Chunk(spec.In, n(0))}},
		loop(spec.If(isFirst, early, late), gen.Send{To: other, Data: gen.Chunk(spec.Out, spec.Rank)}),
		loop(spec.If(isFirst, late, early), gen.Recv{From: other, Into: gen.Chunk(spec.Out, other)}))
	a.Requires.Size = spec.Eq(spec.Size, n(2))
	claim := func(where spec.Expr) gen.Invariant {
		return gen.Invariant{Claims: []gen.Claim{{Buf: spec.Out, Where: where, Chunk: n(0), First: gen.Cell, Count: n(1)}}}
	}
	mine := spec.Eq(gen.Cell, spec.Rank)
	h := gen.Hints{Together: [][2]int{{1, 2}}, Loops: []gen.Invariant{
		claim(mine), claim(spec.Or(mine, spec.Lt(spec.If(isFirst, n(2), n(0)), turn)))}}
	if _, err := induct.Obligations(&a, h); err == nil || !strings.Contains(err.Error(), "in a loop of its own") {
		t.Errorf("got %v", err)
	}
}

// TestWithoutValue has logarithms of 0, divisions by what is less than 1 and of what is negative where a number of
// chunks, a number of slots and an order are wanted: no rank has those.
func TestWithoutValue(t *testing.T) {
	n := spec.Int
	for _, never := range []spec.Expr{spec.Log2(n(0)), spec.Div(spec.Size, n(0)), spec.Mod(spec.Rank, n(-2)),
		spec.Div(n(-1), spec.Size),
		spec.Mod(n(-2), n(2))} {
		testWithoutValue(t, never)
	}
}

func testWithoutValue(t *testing.T, never spec.Expr) {
	t.Helper()
	other := spec.Sub(spec.Int(1), spec.Rank)
	none := with(catalogue.AllReduceRing)
	chunks, scratch := none, none
	chunks.Chunks, scratch.Scratch = never, never
	whole := gen.Chunk(spec.Out, spec.Int(0))
	order := with(catalogue.AllReduceRecursiveDoubling, gen.Step{gen.Send{To: other, Data: whole},
		gen.RecvReduce{From: other, Into: whole, With: whole, ReceivedFirst: never}})
	for _, test := range []struct {
		a      gen.Algorithm
		open   string
		action int
	}{{chunks, "chunks", -1}, {scratch, "chunks", -1}, {order, "bounds", 1}} {
		list, err := induct.Obligations(&test.a, gen.Hints{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(o induct.Obligation) bool { return o.Name == test.open && o.Action == test.action })
		rank := spec.Env{{Name: "size", Value: 2}, {Name: "depth", Value: 1}, {Name: "rank", Value: 0}}
		if holds, err := list[i].Holds(rank); err != nil || holds {
			t.Errorf("%v: %v, %v", &list[i], holds, err)
		}
	}
}

// TestLentInPart has a reduction of two cells whose operand lies, as it is lent, one cell before its destination: the
// second half of it is overwritten before it is read. In its place, or apart, it is read in time.
func TestLentInPart(t *testing.T) {
	cells := func(at int) gen.Region { return gen.Span(spec.Scratch, spec.Int(at), spec.Int(2)) }
	for into, want := range map[int]bool{0: true, 1: false, 2: true} {
		a := with(catalogue.AllReduceOneShot, gen.Step{gen.Copy{Into: cells(4), From: cells(0), Lend: true},
			gen.Reduce{Into: cells(into), Var: "i", N: spec.Int(1), From: cells(4)}})
		list, err := induct.Obligations(&a, gen.Hints{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(o induct.Obligation) bool { return o.Name == "lend" })
		holds := i < 0
		if !holds {
			holds, err = list[i].Holds(spec.Env{{Name: "size", Value: 1}, {Name: "depth", Value: 1}, {Name: "rank", Value: 0},
				{Name: "i", Value: 0}})
		}
		if err != nil || holds != want {
			t.Errorf("into the cells from %d on: %v, %v", into, holds, err)
		}
	}
}

// with returns a with other nodes for its body.
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
	for _, a := range catalogue.Algorithms() {
		list, err := induct.Obligations(&a, a.Hints)
		if _, bounded := a.MostRanks(); err != nil && !bounded {
			t.Error(err)
		}
		for _, o := range list {
			kinds[o.Name]++
		}
	}
	for _, name := range []string{"chunks", "defined", "turns", "bounds", "matched", "distinct", "exclusive", "sent",
		"apart", "operands", "alias",
		"lend", "entry", "step", "post", "tree"} {
		if kinds[name] == 0 {
			t.Errorf("there is no obligation %q in %v", name, kinds)
		}
	}
}

// TestFold: nothing is derived of an algorithm with a fold, wherever it stands, used or not, as no obligation would say
// what it works out.
func TestFold(t *testing.T) {
	fold := gen.Fold{Var: "t", N: spec.Size, State: []gen.State{{Name: "a", First: spec.Int(0), Next: spec.Var("b")},
		{Name: "b", First: spec.Int(0), Next: spec.Var("a")}}}
	const want = "it has a fold over t, which works out a, b, and there is no proof for every number of ranks with a fold"
	for name, body := range map[string][]gen.Node{
		"beside a step": {fold}, "in a step": {gen.Step{fold}}, "in a loop": {gen.For{Var: "k", N: spec.Size,
			Body: []gen.Node{fold}}},
		"in an if": {gen.If{Cond: spec.Rank, Else: []gen.Node{fold}}},
	} {
		a := with(catalogue.BarrierDirect, append(body, catalogue.BarrierDirect.Body...)...)
		if list, err := induct.Obligations(&a, a.Hints); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d obligations, %v", name, len(list), err)
		}
	}
	circulant := catalogue.BroadcastCirculant.Members()[0]
	if _, err := induct.Obligations(&circulant, circulant.Hints); err == nil {
		t.Error("something is derived of the circulant broadcast")
	}
}

// TestOverflow: nothing is derived of an algorithm whose values may wrap around in Go, because the obligations are of
// integers without bounds.
func TestOverflow(t *testing.T) {
	a := catalogue.BarrierDirect
	wraps := spec.Lt(spec.Add(spec.Int(math.MaxInt), spec.Size), spec.Int(0))
	a.Body = []gen.Node{gen.If{Cond: spec.And(spec.Gt(spec.Size, spec.Int(64)), wraps), Then: a.Body}}
	if _, err := induct.Obligations(&a, gen.Hints{}); err == nil || !strings.Contains(err.Error(), "may not fit an int") {
		t.Error(err)
	}
}
