package induct

import "github.com/collgen/collgen/spec"

// Formulas and numbers, with what is decided already left out.

type expr = spec.Expr

var (
	zero, one = spec.Int(0), spec.Int(1)
	yes, no   = one, zero
)

func is(e expr, n int) bool { return e.Kind == spec.Const && e.N == n }

func same(x, y expr) bool { return x.String() == y.String() }

func and(list ...expr) expr {
	all := yes
	for _, x := range list {
		switch {
		case is(x, 0):
			return no
		case is(x, 1) || same(all, x):
		case is(all, 1):
			all = x
		default:
			all = spec.And(all, x)
		}
	}
	return all
}

func or(list ...expr) expr {
	some := no
	for _, x := range list {
		switch {
		case is(x, 1):
			return yes
		case is(x, 0) || same(some, x):
		case is(some, 0):
			some = x
		default:
			some = spec.Or(some, x)
		}
	}
	return some
}

func not(x expr) expr {
	switch {
	case is(x, 0):
		return yes
	case is(x, 1):
		return no
	case x.Kind == spec.NotExpr:
		return x.Args[0]
	}
	return spec.Not(x)
}

func implies(x, y expr) expr { return or(not(x), y) }

func cond(c, x, y expr) expr {
	switch {
	case is(c, 1) || same(x, y):
		return x
	case is(c, 0):
		return y
	}
	return spec.If(c, x, y)
}

func eq(x, y expr) expr {
	if same(x, y) {
		return yes
	}
	return fold(spec.Eq(x, y))
}

func add(x, y expr) expr {
	switch {
	case is(x, 0):
		return y
	case is(y, 0):
		return x
	}
	return fold(spec.Add(x, y))
}

func sub(x, y expr) expr {
	switch {
	case is(y, 0):
		return x
	case same(x, y):
		return zero
	}
	return fold(spec.Sub(x, y))
}

func mul(x, y expr) expr {
	switch {
	case is(x, 0) || is(y, 0):
		return zero
	case is(x, 1):
		return y
	case is(y, 1):
		return x
	}
	return fold(spec.Mul(x, y))
}

func le(x, y expr) expr { return fold(spec.Le(x, y)) }
func lt(x, y expr) expr { return fold(spec.Lt(x, y)) }

// within reports whether x is one of the n numbers from at on.
func within(x, at, n expr) expr {
	if is(n, 1) {
		return eq(x, at)
	}
	return and(le(at, x), lt(x, add(at, n)))
}

// fold returns e, or its value if that does not depend on its variables.
func fold(e expr) expr {
	for _, a := range e.Args {
		if a.Kind != spec.Const {
			return e
		}
	}
	if v, err := e.Eval(nil); err == nil {
		return spec.Int(v)
	}
	return e
}

// build returns an operation of a kind on operands.
func build(k spec.ExprKind, args []expr) expr {
	switch k {
	case spec.AddExpr:
		return add(args[0], args[1])
	case spec.SubExpr:
		return sub(args[0], args[1])
	case spec.MulExpr:
		return mul(args[0], args[1])
	case spec.EqExpr:
		return eq(args[0], args[1])
	case spec.NeExpr:
		return not(eq(args[0], args[1]))
	case spec.AndExpr:
		return and(args...)
	case spec.OrExpr:
		return or(args...)
	case spec.NotExpr:
		return not(args[0])
	case spec.CondExpr:
		return cond(args[0], args[1], args[2])
	}
	return fold(expr{Kind: k, Args: args})
}

// isTruth reports whether e is a condition, with the names of conditions given.
func isTruth(e expr, names map[string]bool) bool {
	switch e.Kind {
	case spec.EqExpr, spec.NeExpr, spec.LtExpr, spec.LeExpr, spec.AndExpr, spec.OrExpr, spec.NotExpr:
		return true
	case spec.Variable:
		return names[e.Name]
	case spec.CondExpr:
		constant := func(e expr) bool { return is(e, 0) || is(e, 1) }
		x, y := e.Args[1], e.Args[2]
		return isTruth(x, names) && (isTruth(y, names) || constant(y)) || constant(x) && isTruth(y, names)
	}
	return false
}
