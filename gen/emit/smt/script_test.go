package smt

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

// TestScript prints an obligation with a product, whose laws come with it.
func TestScript(t *testing.T) {
	c, or := spec.Var("c"), spec.Var("or")
	o := induct.Obligation{
		Name: "bounds", Says: "it is inside", Action: 3,
		Names: []induct.Name{
			{Name: "size", Min: i(1)},
			{Name: "c", Min: i(0), Max: n},
			{Name: "or", Is: spec.Mul(c, n)},
			{Name: "even", Is: spec.Eq(spec.BitAnd(c, i(1)), i(0)), Truth: true},
		},
		Given: []spec.Expr{spec.Var("even")},
		Goal:  spec.Le(i(-1), or),
	}
	got, shifted, err := Script(&o)
	if err != nil || shifted {
		t.Fatal(shifted, err)
	}
	want := `; bounds of action 3: it is inside
(set-logic QF_LIA)
(declare-const size Int)
(assert (<= 1 size))
(declare-const c Int)
(assert (<= 0 c))
(assert (< c size))
(declare-const product!0 Int) ; c * size
(define-fun or! () Int product!0)
(define-fun even () Bool (= (mod c 2) 0))
`
	if !strings.HasPrefix(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	for _, line := range []string{"(assert (=> (= (+ c 1) 0) (= (+ product!0 size) 0)))", "(assert even)",
		"(assert (not (<= (- 1) or!)))\n(check-sat)"} {
		if !strings.Contains(got, line) {
			t.Errorf("there is no %s in\n%s", line, got)
		}
	}
}

// TestScriptCannot has what no law is for.
func TestScriptCannot(t *testing.T) {
	x := spec.Var("x")
	for _, e := range []spec.Expr{spec.BitAnd(x, i(5)), spec.BitOr(x, i(3)), spec.BitXor(x, x),
		spec.BitAnd(x, spec.Add(x, i(1))), spec.Shl(i(1), spec.Sub(spec.Log2(x), i(1)))} {
		o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: i(1)}, {Name: "x", Min: i(1)}},
			Goal: spec.Eq(spec.Add(e, spec.Log2(x)), i(0))}
		if script, _, err := Script(&o); err == nil {
			t.Errorf("%v is printed as\n%s", e, script)
		}
	}
}

// TestScriptShifted says for which sizes an obligation with powers of two is.
func TestScriptShifted(t *testing.T) {
	o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: i(1)}, {Name: "k", Min: i(0)}},
		Goal: spec.Lt(i(0), spec.Shl(i(1), spec.Var("k")))}
	script, shifted, err := Script(&o)
	if err != nil || !shifted || !strings.Contains(script, "(assert (<= size 2147483648))") {
		t.Errorf("%v %v\n%s", shifted, err, script)
	}
}

// TestScriptDivides has a divisor that is a constant, also by a name, and one that may be 0, of which nothing else is
// said.
func TestScriptDivides(t *testing.T) {
	x, c := spec.Var("x"), spec.Var("c")
	for want, e := range map[string]spec.Expr{
		"(div x 3)": spec.Div(x, i(3)), "(mod x 4)": spec.Mod(x, c), "quotient!0": spec.Div(x, n),
		"(- x product!1)": spec.Mod(x, n),
	} {
		o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: i(0)}, {Name: "x", Min: i(0)}, {Name: "c", Is: i(4)}},
			Goal: spec.Le(e, x)}
		script, _, err := Script(&o)
		if err != nil || !strings.Contains(script, "(assert (not (<= "+want+" x)))") {
			t.Errorf("%v: %v\n%s", e, err, script)
		}
		law := "(assert (=> (<= 1 size) (and (<= product!1 x) (< x (+ product!1 size)))))\n"
		if strings.Contains(script, law) != strings.Contains(want, "!") {
			t.Errorf("%v: the law is missing, or needless, in\n%s", e, script)
		}
	}
	for _, e := range []spec.Expr{spec.Div(x, i(0)), spec.Mod(x, i(-2))} { // which have no value
		o := induct.Obligation{Names: []induct.Name{{Name: "x", Min: i(0)}}, Goal: spec.Le(e, x)}
		if script, _, err := Script(&o); err != nil || strings.Contains(script, "(div ") ||
			strings.Contains(script, "(mod ") {
			t.Errorf("%v: %v\n%s", e, err, script)
		}
	}
}

// TestLemmasOf has the lemmas about bits where there are bits alone, also deep inside a name.
func TestLemmasOf(t *testing.T) {
	x := spec.Var("x")
	none := induct.Obligation{Names: []induct.Name{{Name: "y", Is: spec.Mul(x, x)}}, Goal: spec.Le(i(0), x)}
	some := none
	some.Names = []induct.Name{{Name: "y", Is: spec.Add(x, spec.BitAnd(x, i(1)))}}
	if a, b := LemmasOf([]induct.Obligation{none}), LemmasOf([]induct.Obligation{none, some}); len(a) != 1 ||
		len(b) != len(Lemmas()) {
		t.Errorf("%d and %d lemmas", len(a), len(b))
	}
}

var (
	n = spec.Size // short names for tests
	i = spec.Int
)
