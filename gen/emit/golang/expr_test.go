package golang

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
	"pgregory.net/rapid"
)

var (
	n, p, q = spec.Size, spec.Rank, spec.Root // short names for what is in scope in these tests
	i       = spec.Int
)

// testScope returns a scope with rank, size, root, a truth value ok and a natural number k.
func testScope() *scope {
	s := newScope(nil)
	s.vars = map[string]kind{"rank": natural, "size": natural, "root": natural, "ok": truth, "k": natural, "d": number}
	return s
}

// formatted returns code as gofmt prints it, without what is needed to format it.
func formatted(code ...jen.Code) string {
	s := fmt.Sprintf("%#v", jen.Func().Id("f").Params().Block(code...))
	s = strings.TrimSuffix(strings.TrimPrefix(s, "func f() {\n"), "}")
	return strings.TrimSpace(strings.ReplaceAll("\n"+s, "\n\t", "\n"))
}

func TestExpr(t *testing.T) {
	k, d, ok := spec.Var("k"), spec.Var("d"), spec.Var("ok")
	for _, test := range []struct {
		e    spec.Expr
		want string
	}{
		{i(-3), "-3"},
		{spec.Add(spec.Add(p, n), i(1)), "rank + size + 1"},
		{spec.Add(p, spec.Add(n, i(1))), "rank + size + 1"},
		{spec.Sub(p, spec.Sub(n, i(1))), "rank - (size - 1)"},
		{spec.Sub(spec.Sub(p, n), i(1)), "rank - size - 1"},
		{spec.Sub(p, spec.Add(n, i(1))), "rank - (size + 1)"},
		{spec.Sub(i(0), p), "-rank"},
		{spec.Sub(i(0), spec.Add(p, i(1))), "-(rank + 1)"},
		{spec.Mul(spec.Add(p, i(1)), n), "(rank + 1) * size"},
		{spec.Add(spec.Mul(p, n), i(1)), "rank*size + 1"},
		{spec.Div(spec.Mul(p, n), i(2)), "rank * size / 2"},
		{spec.Mul(p, spec.Div(n, i(2))), "rank * (size / 2)"},
		{spec.Mul(p, spec.Mul(spec.Div(n, i(2)), q)), "rank * (size / 2 * root)"},
		{spec.Div(p, spec.Div(n, i(2))), "rank / (size / 2)"},
		{spec.Mod(p, spec.Mod(n, q)), "rank % (size % root)"},
		{spec.Mod(spec.Mod(p, n), q), "rank % size % root"},
		{spec.Mod(spec.Add(p, i(1)), n), "(rank + 1) % size"},
		{spec.Add(p, spec.Mod(p, n)), "rank + rank%size"},
		{spec.Log2(spec.Div(spec.Shl(i(1), k), i(2))), "bits.Len(uint(int(1<<k/2))) - 1"},
		{spec.BitOr(p, spec.BitOr(n, spec.Shl(i(1), k))), "rank | size | 1<<k"},
		{spec.BitAnd(p, spec.BitOr(n, i(1))), "rank & (size | 1)"},
		{spec.Shl(i(1), k), "1 << k"},
		{spec.Shl(i(1), spec.Add(k, i(1))), "1 << (k + 1)"},
		{spec.Shl(spec.Shr(p, k), k), "rank >> k << k"},
		{spec.Shl(p, spec.Shr(p, k)), "rank << (rank >> k)"},
		{spec.BitXor(p, spec.Shl(i(1), k)), "rank ^ 1<<k"},
		{spec.BitAnd(p, spec.Sub(spec.Shl(i(1), k), i(1))), "rank & (1<<k - 1)"},
		{spec.Min(spec.Min(p, n), spec.Add(k, i(2))), "min(rank, size, k+2)"},
		{spec.Max(spec.Min(p, n), i(0)), "max(min(rank, size), 0)"},
		{spec.Log2(n), "bits.Len(uint(size)) - 1"},
		{spec.Sub(p, spec.Log2(n)), "rank - (bits.Len(uint(size)) - 1)"},
		{spec.Add(spec.Log2(n), i(1)), "bits.Len(uint(size))"},
		{spec.CeilLog2(n), "bits.Len(uint(size - 1))"},
		{spec.Mul(spec.CeilLog2(spec.Add(p, n)), i(2)), "bits.Len(uint(rank+size-1)) * 2"},
		{spec.CeilLog2(spec.Sub(n, i(1))), "bits.Len(uint(max(size-1, 1) - 1))"}, // of 0 too it is 0
		{spec.CeilLog2(d), "bits.Len(uint(max(d, 1) - 1))"},
		// not of uint, as counts are
		{spec.Shr(p, spec.BitAnd(spec.Shl(i(-6), spec.BitAnd(n, i(7))), i(7))), "rank >> int(-6<<(size&7)&7)"},
		{spec.Shr(p, spec.Add(i(1), i(2))), "rank >> (1 + 2)"},
		{spec.Shr(p, spec.Add(spec.Shl(i(1), k), p)), "rank >> (1<<k + rank)"},
		{spec.Log2(spec.Shr(spec.Sub(spec.Shl(i(1), k), i(4)), i(1))), "bits.Len(uint(int((1<<k-4)>>1))) - 1"},
		{spec.Reverse(p, k), "int(bits.Reverse32(uint32(rank)) >> (32 - k))"},
		{spec.Shl(spec.Reverse(spec.Add(p, n), spec.Add(k, i(1))), k),
			"int(bits.Reverse32(uint32(rank+size))>>(32-(k+1))) << k"},
		{spec.Reverse(p, spec.Shl(i(1), k)), "int(bits.Reverse32(uint32(rank)) >> int(32-1<<k))"},
		{spec.Lt(p, n), "rank < size"},
		{spec.Gt(p, i(0)), "rank > 0"},
		{spec.Ge(q, n), "root >= size"},
		{spec.Eq(i(1), n), "size == 1"},
		{spec.Not(spec.Lt(p, n)), "rank >= size"},
		{spec.Not(spec.Not(spec.Lt(p, n))), "rank < size"},
		{spec.Not(spec.And(spec.Eq(p, q), ok)), "rank != root || !ok"},
		{spec.Not(spec.Or(spec.Le(p, q), spec.Not(ok))), "rank > root && ok"},
		{spec.And(spec.Or(ok, spec.Eq(p, q)), spec.Ne(n, i(1))), "(ok || rank == root) && size != 1"},
		{spec.Or(spec.And(ok, spec.Eq(p, q)), spec.Ne(n, i(1))), "ok && rank == root || size != 1"},
		{spec.And(ok, spec.And(ok, ok)), "ok && ok && ok"},
		{spec.And(spec.BitAnd(p, i(1)), ok), "rank&1 != 0 && ok"},
		{spec.Not(spec.BitAnd(p, i(1))), "rank&1 == 0"},
		{spec.Not(spec.Add(p, d)), "rank+d == 0"},
		{spec.And(i(1), ok), "true && ok"},
		{spec.Not(i(0)), "true"},
	} {
		o, err := testScope().expr(test.e)
		if err != nil {
			t.Errorf("%v: %v", test.e, err)
		} else if got := strings.TrimPrefix(formatted(jen.Id("_").Op("=").Add(o.code)), "_ = "); got != test.want {
			t.Errorf("%v is printed as %s, want %s", test.e, got, test.want)
		}
	}
}

func TestExprRefused(t *testing.T) {
	for _, test := range []struct {
		e    spec.Expr
		want string // in the error
	}{
		{spec.Add(p, spec.Up(p, n)), "give it a name with Let"},
		{spec.Lt(spec.If(spec.Var("ok"), p, n), n), "give it a name with Let"},
		{spec.Add(p, spec.Lt(p, n)), "is a truth value"},
		{spec.Eq(spec.Var("ok"), i(1)), "is a truth value"},
		{spec.Shl(i(1), spec.Not(p)), "is a truth value"},
		{spec.Max(p, spec.Var("ok")), "is a truth value"},
		{spec.Add(p, spec.Var("nothing")), "nothing is not defined here"},
		{spec.Div(p, i(0)), "rank / 0 is a division by 0"},
		{spec.Add(p, spec.Mod(p, i(-2))), "rank % -2 is a division by -2"},
		{spec.Add(spec.Expr{}, p), "not an expression"},
	} {
		if _, err := testScope().expr(test.e); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error %v, want %q in it", test.e, err, test.want)
		}
	}
}

// exprs are expressions that Go can evaluate as constants: over rank, size and root, without logarithms.
func exprs(numbers, truths *rapid.Generator[spec.Expr]) (number, truth *rapid.Generator[spec.Expr]) {
	binary := func(of *rapid.Generator[spec.Expr], ops ...func(x, y spec.Expr) spec.Expr) *rapid.Generator[spec.Expr] {
		return rapid.Custom(func(t *rapid.T) spec.Expr {
			return rapid.SampledFrom(ops).Draw(t, "op")(of.Draw(t, "x"), of.Draw(t, "y"))
		})
	}
	shift := rapid.Custom(func(t *rapid.T) spec.Expr {
		op := rapid.SampledFrom([]func(x, y spec.Expr) spec.Expr{spec.Shl, spec.Shr}).Draw(t, "op")
		return op(numbers.Draw(t, "x"), i(rapid.IntRange(0, 3).Draw(t, "k")))
	})
	division := rapid.Custom(func(t *rapid.T) spec.Expr {
		op := rapid.SampledFrom([]func(x, y spec.Expr) spec.Expr{spec.Div, spec.Mod}).Draw(t, "op")
		return op(spec.Max(numbers.Draw(t, "x"), i(0)), spec.Max(numbers.Draw(t, "y"), i(1)))
	})
	not := rapid.Custom(func(t *rapid.T) spec.Expr { return spec.Not(truths.Draw(t, "x")) })
	number = rapid.OneOf(numbers, shift, division,
		binary(numbers, spec.Add, spec.Sub, spec.Mul, spec.Min, spec.Max, spec.BitAnd, spec.BitOr, spec.BitXor))
	truth = rapid.OneOf(truths, not,
		binary(numbers, spec.Eq, spec.Ne, spec.Lt, spec.Le), binary(truths, spec.And, spec.Or),
		binary(number, spec.Or, spec.And))
	return number, truth
}

// TestExprMeansTheSame has Go's own type checker evaluate printed expressions.
func TestExprMeansTheSame(t *testing.T) {
	number := rapid.OneOf(rapid.SampledFrom([]spec.Expr{p, n, q}), rapid.Map(rapid.IntRange(-3, 3), i))
	truth := rapid.Just(spec.Lt(p, n))
	for range 4 {
		number, truth = exprs(number, truth)
	}
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.OneOf(number, truth).Draw(t, "e")
		env := spec.Env{{Name: "rank", Value: rapid.IntRange(0, 9).Draw(t, "rank")}, {Name: "size", Value: 10},
			{Name: "root", Value: rapid.IntRange(-1, 11).Draw(t, "root")}}
		want, err := e.Eval(env)
		if err != nil {
			t.Fatal(err)
		}
		o, err := testScope().expr(e)
		if err != nil {
			t.Fatal(err)
		}
		printed := fmt.Sprintf("%#v", o.code)
		if got := constantValue(t, printed, env); got != want {
			t.Fatalf("%v under %v is %d, but printed, as %s, it is %d", e, env, want, printed, got)
		}
	})
}

func constantValue(t *rapid.T, expr string, env spec.Env) int {
	pkg := types.NewPackage("p", "p")
	for _, b := range env {
		pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, b.Name, types.Typ[types.Int], constant.MakeInt64(int64(b.Value))))
	}
	v, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	switch v.Value.Kind() {
	case constant.Bool:
		if constant.BoolVal(v.Value) {
			return 1
		}
		return 0
	default:
		x, _ := constant.Int64Val(v.Value)
		return int(x)
	}
}
