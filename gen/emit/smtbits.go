package emit

import (
	"fmt"

	"github.com/collgen/collgen/spec"
)

// times prints e × 2^above times the least power of g.
func (s *smt) times(e spec.Expr, g *power, above int) string {
	d := s.resolve(e)
	if g.isConstant() {
		return scaled(1<<(g.least+above), s.number(e))
	}
	factor := 1 << above
	switch d.Kind {
	case spec.Const:
		return scaled(d.N*factor, g.name)
	case spec.AddExpr, spec.SubExpr:
		op := map[spec.ExprKind]string{spec.AddExpr: "+", spec.SubExpr: "-"}[d.Kind]
		return fmt.Sprintf("(%s %s %s)", op, s.times(d.Args[0], g, above), s.times(d.Args[1], g, above))
	case spec.CondExpr:
		return fmt.Sprintf("(ite %s %s %s)", s.formula(d.Args[0]), s.times(d.Args[1], g, above), s.times(d.Args[2], g, above))
	case spec.BitXorExpr:
		if is1(d.Args[1]) {
			x, one := s.times(d.Args[0], g, above), scaled(factor, g.name)
			return fmt.Sprintf("(ite (= (mod %s 2) 0) (+ %s %s) (- %s %s))", s.number(d.Args[0]), x, one, x, one)
		}
	case spec.ShrExpr:
		if h, over := s.power(d.Args[1]); h == g && over <= 1 && over <= above {
			q, qz := s.quotient(d.Args[0], g)
			if over == 0 {
				return scaled(factor, qz)
			}
			return scaled(factor/2, fmt.Sprintf("(- %s (ite (= (mod %s 2) 1) %s 0))", qz, q, g.name))
		}
	}
	x := s.number(e)
	n, isNew := s.unknown("product", x+" * "+g.name)
	if isNew {
		g.by.add(x, n)
	}
	return scaled(factor, n)
}

func scaled(n int, x string) string {
	switch {
	case n == 1:
		return x
	case n == 0:
		return "0"
	}
	return fmt.Sprintf("(* %s %s)", literal(n), x)
}

func literal(n int) string {
	if n < 0 {
		return fmt.Sprintf("(- %d)", -n)
	}
	return fmt.Sprint(n)
}

// quotient returns the floor of x over the least power of g, and that times the power.
func (s *smt) quotient(e spec.Expr, g *power) (q, qz string) {
	x := s.number(e)
	q, isNew := s.unknown("quotient", "floor of "+x+" / "+g.name)
	qz, _ = s.unknown("product", q+" * "+g.name)
	if isNew {
		g.by.add(q, qz)
		s.assert("(and (<= %s %s) (< %s (+ %s %s)))", qz, x, x, qz, g.name)
	}
	return q, qz
}

// bits prints an operation on bits.
func (s *smt) bits(e spec.Expr) string {
	x := e.Args[0]
	switch e.Kind {
	case spec.ShlExpr:
		g, above := s.power(e.Args[1])
		return s.times(x, g, above)
	case spec.ShrExpr:
		return s.shr(x, e.Args[1])
	case spec.BitAndExpr:
		return s.and(e)
	case spec.BitXorExpr:
		return s.xor(e)
	}
	return s.log2(x)
}

func (s *smt) shr(x, k spec.Expr) string {
	g, above := s.power(k)
	if g.isConstant() {
		return fmt.Sprintf("(div %s %d)", s.number(x), int64(1)<<(g.least+above))
	}
	if d := s.resolve(x); d.Kind == spec.ShlExpr { // back from where it was
		if h, over := s.power(d.Args[1]); h == g && over >= above {
			return scaled(1<<(over-above), s.number(d.Args[0]))
		}
	}
	q, _ := s.quotient(x, g)
	if above == 0 {
		return q
	}
	return fmt.Sprintf("(div %s %d)", q, int64(1)<<above)
}

// and prints the remainder by a power of two, or the lowest bit of a number.
func (s *smt) and(e spec.Expr) string {
	x, y := e.Args[0], e.Args[1]
	if k, ok := s.mask(y); ok {
		g, above := s.power(k)
		if g.isConstant() {
			return fmt.Sprintf("(mod %s %d)", s.number(x), int64(1)<<(g.least+above))
		}
		high := s.times(spec.Shr(x, k), g, above)
		return fmt.Sprintf("(- %s %s)", s.number(x), high)
	}
	if n := s.resolve(y); n.Kind == spec.SubExpr && n.Args[0].Kind == spec.Const && n.Args[0].N == 0 && n.Args[1].String() == x.String() {
		a := s.number(x)
		low, isNew := s.unknown("lowest", "lowest bit of "+a)
		if isNew {
			s.lowest = append(s.lowest, lowest{x, a, low})
		}
		return low
	}
	return s.fail(e)
}

// xor prints a number with one bit of it changed.
func (s *smt) xor(e spec.Expr) string {
	x, y := e.Args[0], s.resolve(e.Args[1])
	if is1(y) {
		a := s.number(x)
		return fmt.Sprintf("(ite (= (mod %s 2) 0) (+ %s 1) (- %s 1))", a, a, a)
	}
	if y.Kind != spec.ShlExpr || !is1(y.Args[0]) {
		return s.fail(e)
	}
	bit, a := s.number(y), s.number(x)
	return fmt.Sprintf("(ite (= (mod %s 2) 0) (+ %s %s) (- %s %s))", s.shr(x, y.Args[1]), a, bit, a, bit)
}

// log2 prints the floor of the binary logarithm of a number.
func (s *smt) log2(e spec.Expr) string {
	x := s.number(e)
	log, isNew := s.unknown("log", "log2 of "+x)
	if isNew {
		s.assert("(<= 0 %s)", log)
		g, above := s.power(spec.Log2(e))
		if g.least < 0 {
			return s.fail(spec.Log2(e)) // a power with an exponent that may be negative would say something wrong of x
		}
		s.assert("(=> (<= 1 %s) (and (<= %s %s) (< %s %s)))", x, scaled(1<<above, g.name), x, x, scaled(2<<above, g.name))
	}
	return log
}
