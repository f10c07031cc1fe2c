package smt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
)

// formula prints e as a condition.
func (s *printer) formula(e spec.Expr) string {
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
func (s *printer) isTruth(e spec.Expr) bool {
	switch e.Kind {
	case spec.Variable:
		return s.truth[e.Name]
	case spec.Const:
		return e.N == 0 || e.N == 1
	}
	return e.Kind >= spec.EqExpr && e.Kind <= spec.NotExpr
}

// number prints e as a number.
func (s *printer) number(e spec.Expr) string {
	switch {
	case e.Kind == spec.Const:
		return literal(e.N)
	case e.Kind == spec.Variable && !s.truth[e.Name]:
		return cmp.Or(s.alias[e.Name], symbol(e.Name))
	case e.Kind == spec.CondExpr:
		return fmt.Sprintf("(ite %s %s %s)", s.formula(e.Args[0]), s.number(e.Args[1]), s.number(e.Args[2]))
	case s.isTruth(e):
		return fmt.Sprintf("(ite %s 1 0)", s.formula(e))
	}
	switch e.Kind {
	case spec.ShlExpr, spec.ShrExpr, spec.BitAndExpr, spec.BitOrExpr, spec.BitXorExpr, spec.Log2Expr, spec.ReverseExpr:
		return s.bits(e)
	case spec.DivExpr, spec.ModExpr:
		return s.division(e)
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
func (s *printer) fail(e spec.Expr) string {
	if s.err == nil {
		s.err = fmt.Errorf("%s: there is no way to tell a solver what %v is", s.o, e)
	}
	return "0"
}

// product prints x × y. Of an unknown product the script has what is true for its factors.
func (s *printer) product(x, y spec.Expr) string {
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

// sum prints l's atoms and a constant.
func (s *printer) sum(l linear, plus int) string {
	terms := []string{"+", literal(plus)}
	for _, atom := range slices.Sorted(maps.Keys(l.times)) {
		terms = append(terms, scaled(l.times[atom], s.number(s.atoms[atom])))
	}
	if len(terms) == 2 {
		return terms[1]
	}
	return "(" + strings.Join(terms, " ") + ")"
}

// power returns that group, with a name, and by how much the exponent is more than the least.
func (s *printer) power(exponent spec.Expr) (g *power, above int) {
	l := s.linear(exponent)
	if g = s.group(l); g.name == "" {
		s.declare(g)
	}
	if !g.isConstant() && l.plus-g.least > 3 {
		s.fail(exponent) // the lemmas are of smaller differences
	}
	if above = l.plus - g.least; !g.isConstant() && above > 1 && !g.by.has(fmt.Sprint(1<<above)) {
		g.by.add(fmt.Sprint(1<<above), scaled(1<<above, g.name)) // products are compared with those by 0, 1 and 2 in any case
	}
	return g, above
}

// declare gives the least power of a group its name.
func (s *printer) declare(g *power) {
	s.powers = append(s.powers, g)
	if g.isConstant() {
		g.name = fmt.Sprint(int64(1) << g.least)
	} else {
		exponent := s.sum(g.base, g.least)
		g.name, _ = s.unknown("power", "2^"+exponent)
		s.assert("(<= 1 %s)", g.name)
		s.sides = append(s.sides, fmt.Sprintf("(<= 0 %s)", exponent))
	}
	g.by = s.factor(g.name)
}

// factor finds the products with z, or begins their list with those by 0 and 1.
func (s *printer) factor(z string) *factor {
	for _, f := range s.factors {
		if f.z == z {
			return f
		}
	}
	f := &factor{z: z, times: [][2]string{{"0", "0"}, {"1", z}}}
	s.factors = append(s.factors, f)
	return f
}

// times prints e × 2^above times the least power of g.
func (s *printer) times(e spec.Expr, g *power, above int) string {
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
		n := fmt.Sprintf("(%s %s %s)", op, s.times(d.Args[0], g, above), s.times(d.Args[1], g, above))
		if x := s.number(e); above == 0 && !g.by.has(x) {
			g.by.add(x, n)
		}
		return n
	case spec.CondExpr:
		return fmt.Sprintf("(ite %s %s %s)", s.formula(d.Args[0]), s.times(d.Args[1], g, above), s.times(d.Args[2], g, above))
	case spec.BitXorExpr:
		if is1(d.Args[1]) {
			x, one := s.times(d.Args[0], g, above), scaled(factor, g.name)
			return fmt.Sprintf("(ite (= (mod %s 2) 0) (+ %s %s) (- %s %s))", s.number(d.Args[0]), x, one, x, one)
		}
	case spec.ReverseExpr:
		if h, over := s.power(d.Args[1]); !h.isConstant() && over > 0 {
			k := spec.Sub(d.Args[1], spec.Int(1))
			return fmt.Sprintf("(+ (* 2 %s) (ite (= (mod %s 2) 1) %s 0))",
				s.times(spec.Reverse(d.Args[0], k), g, above), s.shr(d.Args[0], k), scaled(factor, g.name))
		}
	case spec.ShrExpr:
		if h, over := s.power(d.Args[1]); h == g && over <= above {
			q, qz := s.quotient(d.Args[0], g)
			return scaled(factor/(1<<over), s.withoutLower(q, qz, g, over))
		}
	}
	x := s.number(e)
	n, isNew := s.unknown("product", x+" * "+g.name)
	if isNew {
		g.by.add(x, n)
	}
	return scaled(factor, n)
}

// withoutLower prints q times the least power of g, which is qz, with the lower bits of q left out, so many.
func (s *printer) withoutLower(q, qz string, g *power, bits int) string {
	switch bits {
	case 0:
		return qz
	case 1:
		return fmt.Sprintf("(- %s (ite (= (mod %s 2) 1) %s 0))", qz, q, g.name)
	}
	low := fmt.Sprintf("(mod %s %d)", q, 1<<bits)
	n, isNew := s.unknown("product", low+" * "+g.name)
	if isNew {
		g.by.add(low, n)
	}
	return fmt.Sprintf("(- %s %s)", qz, n)
}

// quotient returns the floor of x over the least power of g, and that times the power.
func (s *printer) quotient(e spec.Expr, g *power) (q, qz string) {
	x := s.number(e)
	q, qz, isNew := s.floor(x, g.by)
	if isNew {
		s.assert("(and (<= %s %s) (< %s (+ %s %s)))", qz, x, x, qz, g.name)
		s.assert("(=> (<= 0 %s) (and (<= 0 %s) (<= %s %s)))", x, q, q, qz)
	}
	return q, qz
}

// floor returns the floor of x over a factor, and that times the factor; of a new one the script says nothing yet.
func (s *printer) floor(x string, by *factor) (q, qz string, isNew bool) {
	q, isNew = s.unknown("quotient", "floor of "+x+" / "+by.z)
	qz, _ = s.unknown("product", q+" * "+by.z)
	if isNew {
		by.add(q, qz)
	}
	return q, qz, isNew
}

// division prints a quotient or a remainder. Of an unknown divisor the script has what is so if it is 1 or more.
func (s *printer) division(e spec.Expr) string {
	x := s.number(e.Args[0])
	if y := s.resolve(e.Args[1]); y.Kind == spec.Const && y.N >= 1 {
		return fmt.Sprintf("(%s %s %d)", map[spec.ExprKind]string{spec.DivExpr: "div", spec.ModExpr: "mod"}[e.Kind], x, y.N)
	}
	y := s.number(e.Args[1])
	if d := s.resolve(e.Args[0]); d.Kind == spec.MulExpr && s.number(d.Args[1]) == y { // back from where it was
		return map[spec.ExprKind]string{spec.DivExpr: s.number(d.Args[0]), spec.ModExpr: "0"}[e.Kind]
	}
	by := s.factor(y)
	by.divides = true
	q, qy, isNew := s.floor(x, by)
	if isNew {
		s.factor(q).add(y, qy)
		s.assert("(=> (<= 1 %s) (and (<= %s %s) (< %s (+ %s %s))))", y, qy, x, x, qy, y)
		s.assert("(=> (and (<= 1 %s) (<= 0 %s)) (and (<= 0 %s) (<= %s %s)))", y, x, q, q, qy)
	}
	if e.Kind == spec.ModExpr {
		return fmt.Sprintf("(- %s %s)", x, qy)
	}
	return q
}

// bits prints an operation on bits.
func (s *printer) bits(e spec.Expr) string {
	x := e.Args[0]
	switch e.Kind {
	case spec.ShlExpr:
		g, above := s.power(e.Args[1])
		return s.times(x, g, above)
	case spec.ShrExpr:
		return s.shr(x, e.Args[1])
	case spec.BitAndExpr:
		return s.and(e)
	case spec.BitOrExpr:
		return s.withBit(e, func(x, _ string) string { return x })
	case spec.BitXorExpr:
		return s.withBit(e, func(x, bit string) string { return fmt.Sprintf("(- %s %s)", x, bit) })
	case spec.ReverseExpr:
		return s.reverse(x, e.Args[1])
	}
	return s.log2(x)
}

// reverse prints the lower bits of a number in the opposite order: of one bit more than the least of a group, those of
// the least, twice, and that bit.
func (s *printer) reverse(x, k spec.Expr) string {
	g, above := s.power(k)
	return s.reversed(x, k, g, above, func(n, bit string) string { return fmt.Sprintf("(+ (* 2 %s) %s)", n, bit) })
}

// reversed prints the lower bits of x, as many as the exponent k of g, in the opposite order. If they are more than the
// least, more adds a bit.
func (s *printer) reversed(x, k spec.Expr, g *power, above int, more func(n, bit string) string) string {
	if above > 0 {
		k = spec.Sub(k, spec.Int(1))
		return more(s.reversed(x, k, g, above-1, more), fmt.Sprintf("(mod %s 2)", s.shr(x, k)))
	}
	a, low := s.number(x), fmt.Sprintf("(- %s %s)", s.number(x), s.times(spec.Shr(x, k), g, 0))
	n, isNew := s.unknown("reversed", "the bits of "+a+" below "+g.name)
	if isNew {
		s.assert("(and (<= 0 %s) (< %s %s))", n, n, g.name)
		for _, r := range s.reversals {
			if r.g == g {
				s.assert("(=> (= %s %s) (= %s %s))", r.low, low, r.n, n)
			}
		}
		s.reversals = append(s.reversals, reversal{g, low, n})
	}
	return n
}

func (s *printer) shr(x, k spec.Expr) string {
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
func (s *printer) and(e spec.Expr) string {
	x, y := e.Args[0], e.Args[1]
	if k, ok := s.mask(y); ok {
		g, above := s.power(k)
		if g.isConstant() {
			return fmt.Sprintf("(mod %s %d)", s.number(x), int64(1)<<(g.least+above))
		}
		high := s.times(spec.Shr(x, k), g, above)
		return fmt.Sprintf("(- %s %s)", s.number(x), high)
	}
	if n := s.resolve(y); n.Kind == spec.SubExpr && n.Args[0].Kind == spec.Const && n.Args[0].N == 0 &&
		n.Args[1].String() == x.String() {
		a := s.number(x)
		low, isNew := s.unknown("lowest", "lowest bit of "+a)
		if isNew {
			s.lowest = append(s.lowest, lowest{x, a, low})
		}
		return low
	}
	return s.fail(e)
}

// withBit prints a number with one bit of it set, and what becomes of one that has the bit.
func (s *printer) withBit(e spec.Expr, of func(x, bit string) string) string {
	x, y := e.Args[0], s.resolve(e.Args[1])
	if is1(y) {
		a := s.number(x)
		return fmt.Sprintf("(ite (= (mod %s 2) 0) (+ %s 1) %s)", a, a, of(a, "1"))
	}
	if y.Kind != spec.ShlExpr || !is1(y.Args[0]) {
		return s.fail(e)
	}
	bit, a := s.number(y), s.number(x)
	return fmt.Sprintf("(ite (= (mod %s 2) 0) (+ %s %s) %s)", s.shr(x, y.Args[1]), a, bit, of(a, bit))
}

// log2 prints the floor of the binary logarithm of a number.
func (s *printer) log2(e spec.Expr) string {
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
