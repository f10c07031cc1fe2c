package readback

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// folding is an algorithm with a fold in a fold, and another one that has a name of an earlier one's body.
func folding() Collective {
	v, n := spec.Var, spec.Int
	return with(
		gen.Fold{Var: "t", N: spec.Size, When: spec.Lt(v("step"), v("rest")),
			Body: []gen.Node{gen.Fold{Var: "b", N: v("t"), State: []gen.State{{Name: "step", First: n(1),
				Next: spec.Add(v("step"), spec.Rank)}}}},
			State: []gen.State{{Name: "rest", First: spec.Rank, Next: spec.Sub(v("rest"), v("step"))},
				{Name: "at", First: n(0), Next: v("t")}}},
		gen.Fold{Var: "t", N: v("at"), State: []gen.State{{Name: "x1", First: n(0), Next: v("x2")},
			{Name: "x2", First: n(1), Next: v("x1")}}},
		gen.Step{gen.Finish{Data: gen.Span(spec.Out, v("x1"), v("rest"))}},
	)
}

// TestFoldText makes mistakes that only loops of folds can have. Each has to be noticed.
func TestFoldText(t *testing.T) {
	const (
		differs  = "is not the algorithm"
		doubling = "for range t {\n\t\t\tstep += rank\n\t\t}"
		change   = "if step < rest {\n\t\t\trest, at = rest-step, t\n\t\t}"
	)
	k, c := NewChecker(sources(t)), folding()
	text := string(file(t, c))
	if err := k.fault(c, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, wrong, says string }{
		{"rest, at = rest-step, t", "rest, at = t, rest-step", differs},
		{"rest, at = rest-step, t", "at, rest = rest-step, t", differs},
		{"rest, at = rest-step, t", "rest, at = rest-at, t", differs},
		{"rest, at = rest-step, t", "rest -= step\nat = t", ""},
		{"rest, at = rest-step, t", "rest, rest = rest-step, t", "such a variable"},
		{"rest, at = rest-step, t", "rest, _ = rest-step, t", "such a variable"},
		{"rest, at = rest-step, t", "rest = rest - step", differs},
		{change, "rest, at = rest-step, t", differs},
		{change, "if step <= rest {\n\t\t\trest, at = rest-step, t\n\t\t}",
			differs},
		{change, "if step < rest {\n\t\t\trest, at = rest-step, t\n\t\t} else { at = 0 }", ""},
		{doubling, "for range t {\n\t\t\tstep -= rank\n\t\t}", differs},
		{doubling, "for range t {\n\t\t\tstep *= rank\n\t\t}", "such an assignment"},
		{doubling, "for range t {\n\t\t\tat += rank\n\t\t}", "such a variable"},
		{doubling, "for range t {\n\t\t\tx.Exchange(ctx)\nstep += rank\n\t\t}", ""},
		{doubling, "for range t {\n\t\t\tx.Finish(x.Out.Chunk(0))\nstep += rank\n\t\t}",
			"in the loop of a fold"},
		{doubling, "for range t {\n\t\t\tif rank == 0 { continue }\nstep += rank\n\t\t}", ""},
		{doubling, "step += rank", ""},
		{"step := 1\n", "step := 2\n", differs}, {"rest := rank\n", "rest := size\n", differs},
		{"for range at {", "for range at + 1 {", differs}, {"x1, x2 = x2, x1", "x1, x2 = x1, x2", differs},
		{"x1 := 0\n\tx2 := 1\n", "x1 := 1\n\tx2 := 0\n", differs},
		{"x1, x2 = x2, x1\n", "x1 = x2\nx2 = x1\n", ""},
	} {
		if !strings.Contains(text, x.old) {
			t.Fatalf("nothing is %q in\n%s", x.old, text)
		}
		wrong := strings.Replace(text, x.old, x.wrong, 1)
		err := k.fault(c, []byte(wrong))
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s in place of %s: %v, want %q", x.wrong, x.old, err, x.says)
		}
	}
}
