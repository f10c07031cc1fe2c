package gen

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/spec"
)

// TestDoesNotFit: values that wrap around are found wherever they stand, also behind a condition that small sizes never
// meet.
func TestDoesNotFit(t *testing.T) {
	size, n := spec.Size, spec.Int
	for name, e := range map[string]spec.Expr{
		"a sum":               spec.Lt(spec.Add(n(math.MaxInt/2+1), size), n(0)),
		"a constant":          spec.Eq(n(math.MinInt), size),
		"a product":           spec.Lt(spec.Mul(spec.Add(size, n(math.MaxInt>>3+1)), n(4)), n(1000)),
		"shifts":              spec.Eq(spec.Shl(spec.Shl(spec.Shl(size, n(31)), n(31)), n(2)), n(0)),
		"a quotient":          spec.Div(spec.Mul(spec.Shl(size, n(31)), n(1<<12)), size),
		"a bit":               spec.BitOr(size, n(math.MaxInt>>1)),
		"a product of shifts": spec.Mul(spec.Shl(size, n(20)), spec.Shl(size, n(20))),
		"a condition":         spec.If(spec.Gt(size, n(64)), spec.Mul(size, n(math.MaxInt>>6+1)), n(0)),
	} {
		for where, body := range map[string][]Node{
			"let":  {Let{"x", e}},
			"if":   {If{Cond: spec.Gt(size, n(64)), Then: []Node{If{Cond: e}}}},
			"loop": {For{"k", size, []Node{Step{Send{To: e}}}}},
			"fold": {Fold{Var: "k", N: size, State: []State{{Name: "x", First: size, Next: spec.Min(size, spec.Var("y"))}},
				Body: []Node{Let{"y", e}}}},
		} {
			a := Algorithm{Name: "any", Primitive: spec.Barrier, Body: body}
			if err := Fits(a); err == nil || !strings.Contains(err.Error(), "may not fit an int") {
				t.Errorf("%s in a %s: %v", name, where, err)
			}
		}
	}
}

// TestFoldFits: a number that a fold lets grow fits only while it has a limit, which may be the fold's few turns.
func TestFoldFits(t *testing.T) {
	size, x, n := spec.Size, spec.Var("x"), spec.Int
	for _, tc := range []struct {
		turns, next spec.Expr
		fits        bool
	}{
		{size, spec.Min(spec.Add(x, size), n(1000)), true}, {size, spec.Sub(size, x), false},
		{n(30), spec.Mul(x, n(2)), true}, {n(60), spec.Mul(x, n(2)), false}, {size, spec.Add(x, n(1)), false},
		{n(0), spec.Mul(x, n(2)), true}, {spec.Log2(size), spec.Add(x, size), true},
		{size, spec.BitOr(x, spec.Shl(n(1), spec.Var("k"))), true},
	} {
		a := Algorithm{Name: "any", Primitive: spec.Barrier, Body: []Node{
			Fold{Var: "k", N: tc.turns, State: []State{{Name: "x", First: size, Next: tc.next}}},
			For{"s", x, []Node{Step{Send{To: x}}}},
		}}
		if err := Fits(a); (err == nil) != tc.fits {
			t.Errorf("%v in %v turns: %v", tc.next, tc.turns, err)
		}
	}
}

// TestIntervals: what an expression evaluates to is in its interval.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawInterval(t, 4)
		f := &fitting{of: map[string]interval{"x": {-9, 40}, "k": {0, 5}}}
		v := f.value(e)
		env := spec.Env{{Name: "x", Value: rapid.IntRange(-9, 40).Draw(t, "x")},
			{Name: "k", Value: rapid.IntRange(0, 5).Draw(t, "k")}}
		got, err := e.Eval(env)
		if err == nil && f.wide == nil && (int64(got) < v.lo || int64(got) > v.hi) {
			t.Fatalf("%v is %d with %v, and is said to be in %v", e, got, env, v)
		}
	})
}

// TestDivisionIntervals has all small intervals of a dividend and a divisor: every quotient and remainder is in its
// own.
func TestDivisionIntervals(t *testing.T) {
	x, y := spec.Var("x"), spec.Var("y")
	var all []interval
	for lo := int64(-2); lo <= 6; lo++ {
		for hi := lo; hi <= 6; hi++ {
			all = append(all, interval{lo, hi})
		}
	}
	for of := range len(all) * len(all) {
		f := &fitting{of: map[string]interval{"x": all[of%len(all)], "y": all[of/len(all)]}}
		for _, e := range []spec.Expr{spec.Div(x, y), spec.Mod(x, y)} {
			v := f.value(e)
			for a := f.of["x"].lo; a <= f.of["x"].hi; a++ {
				for b := f.of["y"].lo; b <= f.of["y"].hi; b++ {
					got, err := e.Eval(spec.Env{{Name: "x", Value: int(a)}, {Name: "y", Value: int(b)}})
					if err == nil && (int64(got) < v.lo || int64(got) > v.hi) {
						t.Errorf("%v is %d with %d and %d, and is said to be in %v", e, got, a, b, v)
					}
				}
			}
		}
	}
}

// drawInterval draws an expression over x and k.
func drawInterval(t *rapid.T, depth int) spec.Expr {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]spec.Expr{spec.Var("x"), spec.Var("k"), spec.Int(3), spec.Int(-7),
			spec.Int(math.MaxInt >> 23)}).Draw(t, "of")
	}
	two := []func(x, y spec.Expr) spec.Expr{spec.Add, spec.Sub, spec.Mul, spec.Min, spec.Max, spec.Lt, spec.And, spec.Shl,
		spec.Shr, spec.BitAnd, spec.BitOr, spec.BitXor, spec.Div, spec.Mod,
		func(x, y spec.Expr) spec.Expr { return spec.If(spec.Lt(x, y), x, y) },
		func(x, _ spec.Expr) spec.Expr { return spec.Log2(x) }}
	return rapid.SampledFrom(two).Draw(t, "op")(drawInterval(t, depth-1), drawInterval(t, depth-1))
}
