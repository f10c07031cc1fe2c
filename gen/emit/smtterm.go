package emit

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/spec"
)

// formula prints e as a condition.
func (s *smt) formula(e spec.Expr) string {
	args := func(op string, print func(spec.Expr) string) string {
		parts := []string{op}
		for _, a := range e.Args {
			parts = append(parts, print(a))
		}
		return "(" + strings.Join(parts, " ") + ")"
	}
	switch e.Kind {
	case spec.Const:
		return fmt.Sprint(e.N != 0)
	case spec.Variable:
		if s.truth[e.Name] {
			return symbol(e.Name)
		}
	case spec.AndExpr:
		return args("and", s.formula)
	case spec.OrExpr:
		return args("or", s.formula)
	case spec.NotExpr:
		return args("not", s.formula)
	case spec.EqExpr:
		if s.isTruth(e.Args[0]) && s.isTruth(e.Args[1]) {
			return args("=", s.formula)
		}
		return args("=", s.number)
	case spec.NeExpr:
		return args("distinct", s.number)
	case spec.LtExpr:
		return args("<", s.number)
	case spec.LeExpr:
		return args("<=", s.number)
	case spec.CondExpr:
		return args("ite", s.formula)
	}
	return fmt.Sprintf("(distinct %s 0)", s.number(e))
}

// isTruth reports whether e is a condition.
func (s *smt) isTruth(e spec.Expr) bool {
	switch e.Kind {
	case spec.Variable:
		return s.truth[e.Name]
	case spec.Const:
		return e.N == 0 || e.N == 1
	}
	return e.Kind >= spec.EqExpr && e.Kind <= spec.NotExpr
}

// number prints e as a number.
func (s *smt) number(e spec.Expr) string {
	switch {
	case e.Kind == spec.Const:
		return literal(e.N)
	case e.Kind == spec.Variable && !s.truth[e.Name]:
		return symbol(e.Name)
	case e.Kind == spec.CondExpr:
		return fmt.Sprintf("(ite %s %s %s)", s.formula(e.Args[0]), s.number(e.Args[1]), s.number(e.Args[2]))
	case s.isTruth(e):
		return fmt.Sprintf("(ite %s 1 0)", s.formula(e))
	}
	switch e.Kind {
	case spec.ShlExpr, spec.ShrExpr, spec.BitAndExpr, spec.BitXorExpr, spec.Log2Expr:
		return s.bits(e)
	case spec.MulExpr:
		return s.product(e.Args[0], e.Args[1])
	}
	x, y := s.number(e.Args[0]), s.number(e.Args[1])
	switch e.Kind {
	case spec.AddExpr:
		return fmt.Sprintf("(+ %s %s)", x, y)
	case spec.SubExpr:
		return fmt.Sprintf("(- %s %s)", x, y)
	case spec.MinExpr:
		return fmt.Sprintf("(ite (<= %s %s) %s %s)", x, y, x, y)
	case spec.MaxExpr:
		return fmt.Sprintf("(ite (<= %s %s) %s %s)", x, y, y, x)
	}
	return s.fail(e)
}

// fail notes that there is no way to print e.
func (s *smt) fail(e spec.Expr) string {
	if s.err == nil {
		s.err = fmt.Errorf("%s: there is no way to tell a solver what %v is", s.o, e)
	}
	return "0"
}

// product prints x × y. Of an unknown product the script has what is true for its factors.
func (s *smt) product(x, y spec.Expr) string {
	a, b := s.number(x), s.number(y)
	switch {
	case x.Kind == spec.Const || y.Kind == spec.Const:
		return fmt.Sprintf("(* %s %s)", a, b)
	case isBit(x):
		return fmt.Sprintf("(ite (= %s 1) %s 0)", a, b)
	case isBit(y):
		return fmt.Sprintf("(ite (= %s 1) %s 0)", b, a)
	}
	n, isNew := s.unknown("product", a+" * "+b)
	if isNew {
		s.factor(b).add(a, n)
		s.factor(a).add(b, n)
	}
	return n
}

func isBit(e spec.Expr) bool {
	return e.Kind == spec.BitAndExpr && e.Args[1].Kind == spec.Const && e.Args[1].N == 1
}
