package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// simplify returns e with constants folded and operations that do nothing left out.
func simplify(e spec.Expr) spec.Expr {
	e = mapArgs(e, simplify)
	if len(e.Args) > 0 && !slices.ContainsFunc(e.Args, isNoConstant) {
		if value, err := e.Eval(nil); err == nil {
			return spec.Int(value)
		}
	}
	switch {
	case e.Kind == spec.CondExpr && e.WellFormed():
		return simplifyCond(e)
	case len(e.Args) == 2:
		return simplifyPair(e)
	case e.Kind == spec.NotExpr && len(e.Args) == 1 && e.Args[0].Kind == spec.NotExpr && isTruth(e.Args[0].Args[0]):
		return e.Args[0].Args[0]
	}
	return e
}

func isNoConstant(e spec.Expr) bool { return e.Kind != spec.Const }

func constant(e spec.Expr) (value int, ok bool) { return e.N, e.Kind == spec.Const }

func simplifyCond(e spec.Expr) spec.Expr {
	cond, then, els := e.Args[0], e.Args[1], e.Args[2]
	if holds, ok := constant(cond); ok {
		return choose(holds != 0, then, els)
	}
	if then.String() == els.String() {
		return then
	}
	return e
}

// What operations with two operands do where one is a constant, or both are the same.
var (
	neutral = map[spec.ExprKind]int{ // x op n = x
		spec.AddExpr: 0, spec.SubExpr: 0, spec.MulExpr: 1, spec.ShlExpr: 0, spec.ShrExpr: 0, spec.BitXorExpr: 0}
	absorbing = map[spec.ExprKind]int{ // x op n = n
		spec.MulExpr: 0, spec.BitAndExpr: 0, spec.AndExpr: 0}
	commutative = []spec.ExprKind{ // x op y = y op x
		spec.AddExpr, spec.MulExpr, spec.BitAndExpr, spec.BitXorExpr, spec.AndExpr, spec.OrExpr}
	ofSame = map[spec.ExprKind]int{ // x op x = n
		spec.SubExpr: 0, spec.BitXorExpr: 0, spec.NeExpr: 0, spec.LtExpr: 0, spec.EqExpr: 1, spec.LeExpr: 1}
	idempotent = []spec.ExprKind{spec.MinExpr, spec.MaxExpr, spec.BitAndExpr} // x op x = x
)

func simplifyPair(e spec.Expr) spec.Expr {
	x, y := e.Args[0], e.Args[1]
	if n, ok := constant(x); ok && slices.Contains(commutative, e.Kind) {
		if r, ok := withConstant(e.Kind, y, n); ok {
			return r
		}
	}
	if n, ok := constant(y); ok {
		if r, ok := withConstant(e.Kind, x, n); ok {
			return r
		}
	}
	if x.String() == y.String() {
		if n, ok := ofSame[e.Kind]; ok {
			return spec.Int(n)
		}
		if slices.Contains(idempotent, e.Kind) {
			return x
		}
	}
	return joinConstants(e)
}

// withConstant returns x op n, where that is not an operation.
func withConstant(op spec.ExprKind, x spec.Expr, n int) (spec.Expr, bool) {
	if a, ok := absorbing[op]; ok && n == a {
		return spec.Int(a), true
	}
	if id, ok := neutral[op]; ok && n == id {
		return x, true
	}
	switch {
	case op == spec.OrExpr && n != 0:
		return spec.Int(1), true
	case (op == spec.OrExpr && n == 0 || op == spec.AndExpr && n != 0) && isTruth(x):
		return x, true
	}
	return x, false
}

// isTruth reports whether e is 0 or 1.
func isTruth(e spec.Expr) bool {
	return e.Kind >= spec.EqExpr && e.Kind <= spec.NotExpr || e.Kind == spec.Const && (e.N == 0 || e.N == 1)
}

// joinConstants returns a sum or difference whose operands both have constants, with one constant: (x + 1) - 1 is x.
func joinConstants(e spec.Expr) spec.Expr {
	if e.Kind != spec.AddExpr && e.Kind != spec.SubExpr {
		return e
	}
	x, m := splitConstant(e.Args[0])
	y, n := splitConstant(e.Args[1])
	if m == 0 || n == 0 {
		return e
	}
	if e.Kind == spec.SubExpr {
		n = -n
	}
	switch {
	case y.IsAbsent():
	case x.IsAbsent() && e.Kind == spec.SubExpr: // m - (y + n) has no shorter form
		return e
	case x.IsAbsent():
		x = y
	default:
		x = simplify(spec.Expr{Kind: e.Kind, Args: []spec.Expr{x, y}})
	}
	switch m += n; {
	case m < 0:
		return spec.Sub(x, spec.Int(-m))
	case m > 0:
		return spec.Add(x, spec.Int(m))
	}
	return x
}

// splitConstant returns e as the sum of an expression, which may be absent, and a constant.
func splitConstant(e spec.Expr) (spec.Expr, int) {
	switch {
	case e.Kind == spec.Const:
		return spec.Expr{}, e.N
	case e.Kind == spec.AddExpr && e.Args[1].Kind == spec.Const:
		return e.Args[0], e.Args[1].N
	case e.Kind == spec.AddExpr && e.Args[0].Kind == spec.Const:
		return e.Args[1], e.Args[0].N
	case e.Kind == spec.SubExpr && e.Args[1].Kind == spec.Const:
		return e.Args[0], -e.Args[1].N
	}
	return e, 0
}
