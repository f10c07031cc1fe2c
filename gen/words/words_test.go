package words_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	w "github.com/collgen/collgen/gen/words"
	"github.com/collgen/collgen/spec"
)

var ring = []gen.Node{
	w.Let("next", "up(rank + 1, size)"), w.Let("prev", "down(rank - 1, size)"),
	w.If("size == 1", w.Step(w.Copy("out[0]", "in[0]"))),
	w.Loop("s", "size - 1",
		w.Let("c", "down(rank - s, size)"), w.Let("d", "down(c - 1, size)"),
		w.LetBuf("partial", "s == 0", spec.In, spec.Out),
		w.Step(w.Send("next", "partial[c]"), w.RecvReduce("prev", "out[d]", "in[d]"))),
	w.Step(w.Finish("out[next]")),
	w.Loop("s", "size - 1",
		w.Let("c", "down(next - s, size)"), w.Let("d", "down(c - 1, size)"),
		w.Step(w.Send("next", "out[c]"), w.Recv("prev", "out[d]"))),
}

// TestRing: the ring all-reduce in words is that of the catalogue.
func TestRing(t *testing.T) {
	a := catalogue.AllReduceRing
	a.Body = ring
	if diff := cmp.Diff(catalogue.AllReduceRing.Text(), a.Text()); diff != "" {
		t.Error(diff)
	}
	if !reflect.DeepEqual(a.Body, catalogue.AllReduceRing.Body) {
		t.Error("the bodies differ where their texts do not")
	}
}

// TestNodes: each word makes its node, with the operands in their places.
func TestNodes(t *testing.T) {
	x, y, z := spec.Var("x"), spec.Var("y"), spec.Var("z")
	b, c, d := gen.Chunk("b", x), gen.Chunk("c", x), gen.Chunk("d", x)
	p, q := spec.Var("p"), spec.Var("q")
	fold := gen.Fold{Var: "x", N: y, State: []gen.State{{Name: "p", First: z, Next: q},
		{Name: "q", First: spec.Int(1), Next: spec.Add(p, x)}}, Body: []gen.Node{gen.Let{Name: "r", Is: x}}}
	foldIf := fold
	foldIf.When = z
	for _, n := range []struct{ got, want gen.Node }{
		{w.IfElse("x", []gen.Node{w.Let("y", "1")}, []gen.Node{w.Step(w.Finish("b[x]"))}),
			gen.If{Cond: x, Then: []gen.Node{gen.Let{Name: "y", Is: spec.Int(1)}},
				Else: []gen.Node{gen.Step{gen.Finish{Data: b}}}}},
		{w.LetBuf("b", "x", "c", "d"), gen.LetBuf{Name: "b", Cond: x, Then: "c", Else: "d"}},
		{w.Loop("x", "y", w.Let("z", "x")), gen.For{Var: "x", N: y, Body: []gen.Node{gen.Let{Name: "z", Is: x}}}},
		{w.Fold("x", "y", []gen.State{w.State("p", "z", "q"), w.State("q", "1", "p + x")}, w.Let("r", "x")), fold},
		{w.FoldIf("x", "y", "z", fold.State, fold.Body...), foldIf},
		{w.Send("y", "b[x]"), gen.Send{To: y, Data: b}},
		{w.Recv("y", "b[x]"), gen.Recv{From: y, Into: b}},
		{w.RecvReduce("y", "b[x]", "c[x]"), gen.RecvReduce{From: y, Into: b, With: c}},
		{w.Copy("b[x]", "c[x]"), gen.Copy{Into: b, From: c}},
		{w.Reduce("b[x]", "z", "y", "d[x]"), gen.Reduce{Into: b, Var: "z", N: y, From: d}},
	} {
		if diff := cmp.Diff(n.want, n.got); diff != "" {
			t.Error(diff)
		}
	}
	if got := w.E("x + z"); !reflect.DeepEqual(got, spec.Add(x, z)) {
		t.Error(got)
	}
	if got := w.R("b[x]"); !reflect.DeepEqual(got, b) {
		t.Error(got)
	}
}

// TestPanic: what cannot be read is said with the line that says it.
func TestPanic(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `words_test.go:`) ||
			!strings.Contains(got, `"size -", column 7: want an operand`) {
			t.Error(got)
		}
	}()
	w.Loop("s", "size -")
}
