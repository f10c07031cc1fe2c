package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
)

// power is the powers of two whose exponents differ by constants: 2^(base + least), 2^(base + least + 1), …, all of them
// multiples of the first.
type power struct {
	base  linear
	least int
	name  string  // of the first
	by    *factor // the products with it
}

// linear is a sum of atoms, by their texts, each some times, and a constant.
type linear struct {
	times map[string]int
	plus  int
}

// linear is e as a sum. What is no sum of other things is an atom.
func (s *smt) linear(e spec.Expr) linear {
	d := s.resolve(e)
	switch d.Kind {
	case spec.Const:
		return linear{plus: d.N}
	case spec.AddExpr:
		return s.linear(d.Args[0]).add(s.linear(d.Args[1]), 1)
	case spec.SubExpr:
		return s.linear(d.Args[0]).add(s.linear(d.Args[1]), -1)
	case spec.Log2Expr:
		e = d
	}
	s.atoms[e.String()] = e
	return linear{times: map[string]int{e.String(): 1}}
}

func (l linear) add(m linear, times int) linear {
	sum := linear{maps.Clone(l.times), l.plus + times*m.plus}
	if sum.times == nil {
		sum.times = map[string]int{}
	}
	for atom, n := range m.times {
		if sum.times[atom] += times * n; sum.times[atom] == 0 {
			delete(sum.times, atom)
		}
	}
	return sum
}

// key is the same for sums whose difference is a constant.
func (l linear) key() string { return fmt.Sprint(l.times) }

// sum prints l's atoms and a constant.
func (s *smt) sum(l linear, plus int) string {
	terms := []string{"+", literal(plus)}
	for _, atom := range slices.Sorted(maps.Keys(l.times)) {
		terms = append(terms, scaled(l.times[atom], s.number(s.atoms[atom])))
	}
	if len(terms) == 2 {
		return terms[1]
	}
	return "(" + strings.Join(terms, " ") + ")"
}

// exponents finds out which powers there are, and the least of those that differ by constants.
func (s *smt) exponents() {
	var visit func(e spec.Expr)
	visit = func(e spec.Expr) {
		for _, a := range e.Args {
			visit(a)
		}
		if exponent, ok := s.exponentIn(e); ok {
			s.group(s.linear(exponent))
		}
	}
	for _, n := range s.o.Names {
		visit(n.Is)
		visit(n.Max)
	}
	for _, g := range append(s.o.Given[:len(s.o.Given):len(s.o.Given)], s.o.Goal) {
		visit(g)
	}
}

// exponentIn is the exponent of the power of two that e, as it stands, speaks of.
func (s *smt) exponentIn(e spec.Expr) (spec.Expr, bool) {
	switch e.Kind {
	case spec.ShlExpr, spec.ShrExpr:
		return e.Args[1], true
	case spec.BitAndExpr:
		return s.mask(e.Args[1])
	case spec.Log2Expr:
		return e, true
	}
	return spec.Expr{}, false
}

func is1(e spec.Expr) bool { return e.Kind == spec.Const && e.N == 1 }

// mask is k where e is 2^k - 1.
func (s *smt) mask(e spec.Expr) (spec.Expr, bool) {
	if is1(e) {
		return e, true
	}
	e = s.resolve(e)
	if e.Kind != spec.SubExpr || !is1(e.Args[1]) {
		return e, false
	}
	e = s.resolve(e.Args[0])
	if e.Kind == spec.MulExpr && e.Args[0].Kind == spec.Const && e.Args[0].N == 2 {
		if k := s.resolve(e.Args[1]); k.Kind == spec.ShlExpr && is1(k.Args[0]) {
			return spec.Add(k.Args[1], spec.Int(1)), true
		}
	}
	if e.Kind == spec.ShlExpr && is1(e.Args[0]) {
		return e.Args[1], true
	}
	return e, false
}

// group is the group of the powers with an exponent.
func (s *smt) group(l linear) *power {
	g := s.groups[l.key()]
	if g == nil {
		g = &power{base: l, least: l.plus}
		s.groups[l.key()] = g
	}
	g.least = min(g.least, l.plus)
	return g
}

// power is that group, with a name, and by how much the exponent is more than the least.
func (s *smt) power(exponent spec.Expr) (g *power, above int) {
	l := s.linear(exponent)
	if g = s.group(l); g.name == "" {
		s.declare(g)
	}
	return g, l.plus - g.least
}

// isConstant tells whether the exponents are numbers that shifts may have.
func (g *power) isConstant() bool {
	return len(g.base.times) == 0 && g.least >= 0 && g.least <= MaxExponent
}

// declare gives the least power of a group its name.
func (s *smt) declare(g *power) {
	s.powers = append(s.powers, g)
	if g.isConstant() {
		g.name = fmt.Sprint(1 << g.least)
	} else {
		exponent := s.sum(g.base, g.least)
		g.name, _ = s.unknown("power", "2^"+exponent)
		s.assert("(<= 1 %s)", g.name)
		s.sides = append(s.sides, fmt.Sprintf("(<= 0 %s)", exponent))
	}
	g.by = s.factor(g.name)
}

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

// quotient is the floor of x over the least power of g, and that times the power.
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
		return fmt.Sprintf("(div %s %d)", s.number(x), 1<<(g.least+above))
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
	return fmt.Sprintf("(div %s %d)", q, 1<<above)
}

// and prints the remainder by a power of two, or the lowest bit of a number.
func (s *smt) and(e spec.Expr) string {
	x, y := e.Args[0], e.Args[1]
	if k, ok := s.mask(y); ok {
		g, above := s.power(k)
		if g.isConstant() {
			return fmt.Sprintf("(mod %s %d)", s.number(x), 1<<(g.least+above))
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
