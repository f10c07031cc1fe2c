package emit

import (
	"strings"
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
		{spec.If(i(1), p, n), "if 1 then rank else size"},
		{spec.If(p, i(1), n), "if rank then 1 else size"},
		{spec.Expr{Kind: spec.AddExpr}, "invalid(3)"},
		{spec.Expr{Kind: spec.CondExpr}, "invalid(15)"},
		{spec.Expr{Kind: spec.Log2Expr}, "invalid(20)"},
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

// TestCostWords says nothing of what is not declared.
func TestCostWords(t *testing.T) {
	for _, test := range []struct {
		cost gen.Cost
		want string
	}{
		{gen.Cost{}, ""},
		{gen.Cost{Beta: n}, "Cost on the critical path: size chunks sent; a block has size chunks."},
		{gen.Cost{Alpha: i(1), Beta: n, Gamma: i(0)},
			"Cost on the critical path: 1 messages, size chunks sent, 0 chunks reduced; a block has size chunks."},
	} {
		if got := costWords(&gen.Algorithm{Chunks: n, Cost: test.cost}); got != test.want {
			t.Errorf("%+v is %q, want %q", test.cost, got, test.want)
		}
	}
}

// TestInduction says what was proved for every size, and nothing where nothing was.
func TestInduction(t *testing.T) {
	p := Proof{Sizes: []int{1, 2}, Depths: []int{1, 3}, Schedules: 4}
	if got := p.words(spec.Broadcast); strings.Contains(got, "induction") {
		t.Errorf("nothing was proved by induction: %q", got)
	}
	p.Every = Induction{Sizes: "1..2^31", Obligations: 5, Solvers: []string{"z3", "cvc5"}}
	want := " By induction over steps, for sizes 1..2^31, all roots, all depths, while sizes and products fit an int: what the primitive promises holds, " +
		"no two accesses race, and the call ends in every interleaving, even if no channel has room for a message; 5 obligations, each proved by z3 and by cvc5."
	if got := p.words(spec.Broadcast); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
	p.Every.lends, p.Every.segment = true, true
	if got := p.words(spec.Broadcast); !strings.Contains(got, "no two accesses race, what is lent is read by") {
		t.Errorf("that loans are proved is not said: %q", got)
	}
	if got := p.words(spec.Broadcast); !strings.Contains(got, "even if no channel has room for more than a segment of a message; 5 obligations") {
		t.Errorf("what room is needed is not said: %q", got)
	}
}
