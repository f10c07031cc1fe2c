package smtproof_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/smtproof"
)

// TestDivisionLaws has what is so of quotients, remainders and bits that are set, which solvers prove, and beside it
// what is not quite so, which they refute.
func TestDivisionLaws(t *testing.T) {
	x, four := v("x"), n(4)
	bit, low := spec.Shl(one, k), under(spec.Shl(one, n(2)))
	for _, law := range []struct {
		is, isNot spec.Expr
	}{
		{spec.Eq(spec.Add(spec.Mul(spec.Div(x, size), size), spec.Mod(x, size)), x),
			spec.Eq(spec.Mul(spec.Div(x, size), size), x)},
		{spec.Lt(spec.Mod(x, size), size), spec.Lt(spec.Mod(x, size), under(size))},
		{spec.Le(zero, spec.Mod(x, size)), spec.Lt(zero, spec.Mod(x, size))},
		{spec.Le(spec.Div(x, size), x), spec.Lt(spec.Div(x, size), x)},
		{spec.Or(spec.Le(size, x), spec.Eq(spec.Div(x, size), zero)), spec.Eq(spec.Div(x, size), zero)},
		{spec.Eq(spec.Div(spec.Mul(x, size), size), x), spec.Eq(spec.Div(spec.Mul(x, size), size), off(x))},
		{spec.Eq(spec.Mod(spec.Mul(x, size), size), zero), spec.Lt(zero, spec.Mod(spec.Mul(x, size), size))},
		{ofTwoMore(spec.Mul(n(2), size)), ofTwoMore(size)},
		{spec.Lt(spec.Mod(x, four), four), spec.Lt(spec.Mod(x, four), n(3))},
		{spec.Eq(spec.Add(spec.Mul(spec.Div(x, four), four), spec.Mod(x, four)), x),
			spec.Eq(spec.Mul(spec.Div(x, four), four), x)},
		{spec.Eq(spec.Mod(x, four), spec.BitAnd(x, low)), spec.Eq(spec.Mod(x, four), spec.BitAnd(x, one))},
		{spec.Eq(spec.Div(x, four), spec.Shr(x, n(2))), spec.Eq(spec.Div(x, four), spec.Shr(x, one))},
		{spec.Eq(spec.Div(x, bit), spec.Shr(x, k)), spec.Eq(spec.Div(x, bit), x)},
		{spec.Le(x, spec.BitOr(x, one)), spec.Lt(x, spec.BitOr(x, one))},
		{spec.Eq(spec.BitOr(x, one), spec.Add(spec.Mul(spec.Div(x, n(2)), n(2)), one)),
			spec.Eq(spec.BitOr(x, one), spec.BitXor(x, one))},
		{spec.Le(bit, spec.BitOr(x, bit)), spec.Le(x, spec.BitXor(x, bit))},
	} {
		for goal, want := range map[*spec.Expr]string{&law.is: "unsat", &law.isNot: "sat"} {
			o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: one}, {Name: "x", Min: zero},
				{Name: "k", Min: zero, Max: size}}, Goal: *goal}
			for _, answer := range answers(t, o) {
				if answer != want {
					t.Errorf("%v: a solver says %q, want %q", goal, answer, want)
				}
			}
		}
	}
}

// ofTwoMore says that if a quotient q is two less than k, then k times the divisor is that much more than q times it.
func ofTwoMore(more spec.Expr) spec.Expr {
	q := spec.Div(v("x"), size)
	return spec.Or(spec.Ne(k, spec.Add(q, n(2))), spec.Eq(spec.Mul(k, size), spec.Add(spec.Mul(q, size), more)))
}

// TestDivisionWithoutValue: of a divisor that may be 0 scripts presume nothing, or all would be proved of it.
func TestDivisionWithoutValue(t *testing.T) {
	for _, e := range []spec.Expr{spec.Div(v("x"), k), spec.Mod(v("x"), k), spec.Div(v("x"), zero),
		spec.Mod(v("x"), n(-2))} {
		o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: one}, {Name: "x", Min: one},
			{Name: "k", Min: zero, Max: one}},
			Goal: spec.And(spec.Eq(e, e), spec.Lt(size, one))}
		for _, answer := range answers(t, o) {
			if answer != "sat" {
				t.Errorf("%v: a solver says %q", e, answer)
			}
		}
	}
}

// answers returns what the solvers say of o.
func answers(t *testing.T, o induct.Obligation) []string {
	t.Helper()
	p := &smtproof.Problem{Algorithm: &catalogue.AllGatherRing, Obligations: []induct.Obligation{o},
		Scripts: []string{script(t, o, o.Goal)}}
	proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: needSolvers(t), Limit: patience})
	if err != nil {
		t.Fatal(err)
	}
	return proof.Answers[0]
}

// TestDividingAlgorithms proves algorithms for every size whose peers are remainders: those of a ring, and the other
// one of a pair.
func TestDividingAlgorithms(t *testing.T) {
	ring := catalogue.AllGatherRing
	let("next", spec.Mod(off(rank), size))(&ring)
	pairs := pairwise
	for _, a := range []*gen.Algorithm{&ring, &pairs} {
		p, err := smtproof.ProblemOf(a)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: needSolvers(t), Limit: patience})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range proof.Open() {
			t.Errorf("%s: %s is open: %v", a.FullName(), &p.Obligations[i], proof.Answers[i])
		}
	}
}

// pairwise is an all-gather of two ranks, each of which finds the other one of its pair.
var pairwise = gen.Algorithm{
	Name: "pairs", Primitive: spec.AllGather, Requires: gen.Requires{Size: spec.Eq(size, n(2))},
	Body: []gen.Node{
		gen.Let{Name: "partner", Is: spec.Sub(spec.Add(spec.BitOr(rank, one), spec.Mul(spec.Div(rank, n(2)), n(2))), rank)},
		step(copied(gen.Chunk(out, rank), cell(in, 0))),
		step(sent(v("partner"), cell(in, 0)), received(v("partner"), gen.Chunk(out, v("partner")))),
	},
}

// dividing are mistakes in algorithms that divide: a divisor or a dividend off by one, the quotient for the remainder,
// and operands that have no value.
var dividing = []planted{
	{"ring: one rank too many", catalogue.AllGatherRing, let("next", spec.Mod(off(rank), off(size))), "bounds"},
	{"ring: by 0 on one rank", catalogue.AllGatherRing, let("next", spec.Mod(off(rank), under(size))), "defined"},
	{"ring: of -1 on rank 0", catalogue.AllGatherRing, let("prev", spec.Mod(under(rank), size)), "defined"},
	{"ring: the quotient", catalogue.AllGatherRing, let("next", spec.Div(off(rank), size)), "bounds"},
	{"ring: two ranks further", catalogue.AllGatherRing, let("next", spec.Mod(off(off(rank)), size)), "matched"},
	{"pairs: a bit that is set already", pairwise, let("partner", spec.BitOr(rank, one)), "bounds"},
}
