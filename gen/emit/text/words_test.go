package text

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

func TestFormula(t *testing.T) {
	for _, test := range []struct {
		e    spec.Expr
		want string
	}{
		{i(3), "3"},
		{spec.Mul(i(2), spec.Sub(n, i(1))), "2 * (size - 1)"},
		{spec.Add(spec.CeilLog2(n), spec.Log2(spec.Add(n, i(1)))), "⌈log2(size)⌉ + ⌊log2(size + 1)⌋"},
		{spec.Mul(i(2), spec.CeilLog2(spec.Min(n, spec.Log2(p)))), "2 * ⌈log2(min(size, ⌊log2(rank)⌋))⌉"},
		{spec.Div(spec.Log2(n), spec.Mod(n, i(2))), "⌊log2(size)⌋ / (size % 2)"},
		{spec.If(i(1), p, n), "if 1 then rank else size"},
		{spec.If(p, i(1), n), "if rank then 1 else size"},
		{spec.Expr{Kind: spec.AddExpr}, "invalid(3)"},
		{spec.Expr{Kind: spec.CondExpr}, "invalid(17)"},
		{spec.Expr{Kind: spec.Log2Expr}, "invalid(23)"},
	} {
		if got := Formula(test.e); got != test.want {
			t.Errorf("%v is %q, want %q", test.e, got, test.want)
		}
	}
}

func TestRequirements(t *testing.T) {
	for _, test := range []struct {
		r    gen.Requires
		want string
	}{
		{gen.Requires{}, ""},
		{gen.Requires{Commutative: true}, "a commutative op"},
		{gen.Requires{Size: spec.Le(n, i(8)), Commutative: true, OutOfPlace: true},
			"sizes with size <= 8; a commutative op; in and out in distinct memory"},
	} {
		if got := Requirements(test.r); got != test.want {
			t.Errorf("%+v is %q, want %q", test.r, got, test.want)
		}
	}
}

var (
	n, p = spec.Size, spec.Rank // short names for tests
	i    = spec.Int
)

func TestRanges(t *testing.T) {
	for _, test := range []struct {
		numbers []int
		want    string
	}{
		{nil, ""}, {[]int{3}, "3"}, {[]int{1, 2}, "1, 2"}, {[]int{1, 2, 3}, "1..3"},
		{[]int{1, 2, 4, 5, 6, 9}, "1, 2, 4..6, 9"},
	} {
		if got := Ranges(test.numbers); got != test.want {
			t.Errorf("%v is printed as %q, want %q", test.numbers, got, test.want)
		}
	}
}
