package smt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// maxNumber is more than the numbers x for which the lemmas about bits are proved: their sums fit 64 bits.
const maxNumber int64 = 1 << 62

// Lemma is a property of numbers that scripts assume, as a separate script: it is proved by unsat.
type Lemma struct{ Name, Script string }

// Lemmas returns everything that scripts may assume beyond the theory of integers and sums. That log2 of x is the
// number k with 2^k <= x < 2^(k+1) is what it means. Those about bits are proved for numbers of 64 bits, exponents up
// to MaxExponent and 2 more, as after the last digit of 3 bits, and all x of less than 2^62 in size that, where they
// are shifted to the left, fit 64 bits. Exponents that are compared with each other by a constant differ by less than
// 4.
func Lemmas() []Lemma {
	return []Lemma{ // the first is the one that is not about bits
		{"products with a positive number are ordered as the other factors are", products(
			"(and (= (+ (* x z) z) (* (+ x 1) z)) (=> (<= 1 z)",
			"  (and (<= (+ (* x z) z) (* (+ x 1 d) z)) (<= (+ (* x z) z z) (* (+ x 2 d) z))",
			"    (<= (+ (* 2 (* x z)) z) (* (+ (* 2 x) 1 d) z)) (<= (* (- (* 2 x) d) z) (* 2 (* x z))) (= (* 2 (* x z)) (* (* "+
				"2 x) z)))))")},
		{"a power of two is an even multiple of each smaller one", onBits(
			"(=> (bvult e f) (and (bvule (bvshl one e) (bvlshr (pow f) one))",
			"  (= (pow f) (bvshl (bvshl (pow (bvsub (bvsub f e) one)) one) e))",
			"  (=> (bvult (bvadd e one) f) (bvule (pow e) (bvlshr (pow f) (bvadd one one))))",
			"  (=> (= (bvadd e one) f) (= (bvadd (pow e) (pow e)) (pow f)))))")},
		{"a shift to the right is the floor of a division", onBits(
			"(and (bvsle (bvshl (bvashr x e) e) x) (bvslt x (bvadd (bvshl (bvashr x e) e) (pow e)))",
			"  (=> (bvsle (bvsub one one) x) (and (bvsle (bvsub one one) (bvashr x e))",
			"    (bvsle (bvashr x e) (bvshl (bvashr x e) e)))))")},
		{"shifts to the right add up", onBits(
			"(=> (bvult f (_ bv4 64)) (= (bvashr x (bvadd e f)) (bvashr (bvashr x e) f)))")},
		{"a shift to the left and less far back is a shift to the left", onBits(
			"(=> (and (bvult f (_ bv4 64)) (bvule (bvadd e f) (_ bv31 64)) (= (bvashr (bvshl x (bvadd e f)) (bvadd e f)) x))",
			"  (= (bvashr (bvshl x (bvadd e f)) e) (bvshl x f)))")},
		{"to change a bit is to add or to subtract it", onBits(
			"(= (bvxor x (pow e)) (ite (= (bvand (bvashr x e) one) one) (bvsub x (pow e)) (bvadd x (pow e))))")},
		{"to set a bit is to add it, or it was set", onBits(
			"(= (bvor x (pow e)) (ite (= (bvand (bvashr x e) one) one) x (bvadd x (pow e))))")},
		{"the lower bits are the remainder", onBits(
			"(= (bvand x (bvsub (pow e) one)) (bvsub x (bvshl (bvashr x e) e)))")},
		{"one bit more in the opposite order is one more at the end", onReversed(
			"(=> (bvult e (_ bv31 64)) (= (reverse x (bvadd e one)) (bvadd (bvadd (reverse x e) (reverse x e)) (bvand (bvashr " +
				"x e) one))))")},
		{"the bits in the opposite order are below the same power of two, and follow from the lower ones", onReversed(
			"(=> (bvule e (_ bv31 64)) (and (bvult (reverse x e) (pow e)) (= (reverse x e) (reverse (bvsub x (bvshl (bvashr x " +
				"e) e)) e))))")},
		{"the lowest bit is the largest power of two that divides", onBits(
			"(=> (bvslt (bvsub one one) x) (let ((l (bvand x (bvneg x))) (multiple (= x (bvshl (bvashr x e) e))))",
			"  (and (bvsle one l) (bvsle l x) (= multiple (bvsle (pow e) l))",
			"    (=> (and multiple (= (bvand (bvashr x e) one) one)) (= l (pow e)))",
			"    (=> (and multiple (not (= (bvand (bvashr x e) one) one))) (bvsle (bvadd (pow e) (pow e)) l)))))")},
	}
}

// LemmasOf returns those that the scripts of obligations may presume: those about bits only where there are operations
// on bits.
func LemmasOf(list []induct.Obligation) []Lemma {
	all := Lemmas()
	for i := range list {
		if hasBits(&list[i]) {
			return all
		}
	}
	return all[:1]
}

// hasBits reports whether there are operations on bits in o.
func hasBits(o *induct.Obligation) bool {
	operations := []spec.ExprKind{spec.ShlExpr, spec.ShrExpr, spec.BitAndExpr, spec.BitOrExpr, spec.BitXorExpr,
		spec.Log2Expr, spec.ReverseExpr}
	var in func(e spec.Expr) bool
	in = func(e spec.Expr) bool { return slices.Contains(operations, e.Kind) || slices.ContainsFunc(e.Args, in) }
	return in(o.Goal) || slices.ContainsFunc(o.Given, in) ||
		slices.ContainsFunc(o.Names, func(n induct.Name) bool { return in(n.Is) || in(n.Min) || in(n.Max) })
}

// products returns the script for a law of integers.
func products(law ...string) string {
	return "(set-logic QF_NIA)\n(declare-const x Int)\n(declare-const d Int)\n(declare-const z Int)\n" +
		"(assert (<= 0 d))\n(assert (not " + strings.Join(law, "\n") + "))\n(check-sat)\n"
}

// onBits returns the script for a law of numbers x, and exponents e and f.
func onBits(law ...string) string {
	var b strings.Builder
	b.WriteString("(set-logic QF_BV)\n")
	for _, name := range []string{"x", "e", "f"} {
		fmt.Fprintf(&b, "(declare-const %s (_ BitVec 64))\n", name)
	}
	b.WriteString("(define-fun one () (_ BitVec 64) (_ bv1 64))\n(define-fun pow ((k (_ BitVec 64))) (_ BitVec 64) " +
		"(bvshl (_ bv1 64) k))\n")
	for _, name := range []string{"e", "f"} {
		fmt.Fprintf(&b, "(assert (bvule %s (_ bv%d 64)))\n", name, MaxExponent+2)
	}
	fmt.Fprintf(&b, "(assert (bvslt x (_ bv%d 64)))\n(assert (bvslt (bvneg (_ bv%d 64)) x))\n", maxNumber, maxNumber)
	fmt.Fprintf(&b, "(assert (not %s))\n(check-sat)\n", strings.Join(law, "\n"))
	return b.String()
}

// onReversed returns the script for a law of numbers x, exponents e, and reverse, which it defines as Go does.
func onReversed(law ...string) string {
	var b strings.Builder
	b.WriteString("(define-fun reverse ((x (_ BitVec 64)) (k (_ BitVec 64))) (_ BitVec 64)\n  (bvlshr ((_ zero_extend " +
		"32) (concat")
	for i := range 32 {
		fmt.Fprintf(&b, " ((_ extract %d %d) x)", i, i)
	}
	b.WriteString(")) (bvsub (_ bv32 64) k)))\n(assert (not ")
	return strings.Replace(onBits(law...), "(assert (not ", b.String(), 1)
}

// lemmas says of the unknown numbers what is true of them.
func (s *printer) lemmas() {
	for i, x := range s.lowest {
		s.lowestBit(x, s.lowest[:i])
	}
	for _, g := range s.powers {
		for _, h := range s.powers {
			if g != h && !g.isConstant() && !h.isConstant() {
				s.multiple(g, h)
			}
		}
	}
	for _, f := range s.factors {
		if s.isIdle(f) {
			for _, p := range f.times[:2] {
				s.assert("(=> (= %s %s) (= %s %s))", p[0], f.times[2][0], p[1], f.times[2][1])
			}
			continue
		}
		for i, p := range f.times {
			for j, q := range f.times {
				if i >= 2 || j >= 2 {
					s.ordered(f, p, q, i < j)
				}
			}
		}
	}
	if s.isShifted() {
		s.assert("(<= %s %d)", spec.Size.Name, MaxShifted)
		s.comparePowers()
	}
}

// isIdle reports whether there is little to say of f: its only product is compared with others by its other factor.
func (s *printer) isIdle(f *factor) bool {
	if len(f.times) != 3 {
		return false
	}
	return slices.ContainsFunc(s.factors, func(g *factor) bool {
		return g != f && len(g.times) > 3 && slices.ContainsFunc(g.times[2:],
			func(p [2]string) bool { return p[1] == f.times[2][1] })
	})
}

// isShifted reports whether there are powers that are not constants.
func (s *printer) isShifted() bool {
	return slices.ContainsFunc(s.powers, func(g *power) bool { return !g.isConstant() })
}

// multiple says that the powers of h are even multiples of smaller ones of g, by a power of two if the script has that.
func (s *printer) multiple(g, h *power) {
	half, _ := s.unknown("ratio", "half of "+h.name+" / "+g.name)
	product, _ := s.unknown("product", "2 * "+half+" * "+g.name)
	g.by.add(scaled(2, half), product)
	less, more := s.sum(g.base, g.least), s.sum(h.base, h.least)
	s.assert("(=> (and (<= 0 %s) (< %s %s)) (and (<= 1 %s) (= %s %s)))", less, less, more, half, product, h.name)
	ratio := h.base.add(g.base, -1)
	if p := s.groups[ratio.key()]; p != nil && p.name != "" && !p.isConstant() && p.least == h.least-g.least-1 {
		n, _ := s.unknown("product", half+" * "+g.name)
		g.by.add(half, n)
		s.assert("(=> (and (<= 0 %s) (< %s %s)) (= %s %s))", less, less, more, half, p.name)
	}
}

// ordered compares the products of z by p and by q.
func (s *printer) ordered(f *factor, p, q [2]string, once bool) {
	if p == q {
		return
	}
	z := f.z
	s.assert("(=> (and (<= 1 %s) (< %s %s)) (<= (+ %s %s) %s))", z, p[0], q[0], p[1], z, q[1])
	s.assert("(=> (and (<= 1 %s) (< (+ %s 1) %s)) (<= (+ %s %s %s) %s))", z, p[0], q[0], p[1], z, z, q[1])
	s.assert("(=> (= (+ %s 1) %s) (= (+ %s %s) %s))", p[0], q[0], p[1], z, q[1])
	if f.divides {
		s.assert("(=> (= (+ %s 2) %s) (= (+ %s %s %s) %s))", p[0], q[0], p[1], z, z, q[1])
	}
	s.assert("(=> (<= 1 %s) (ite (< (* 2 %s) %s) (<= (+ (* 2 %s) %s) %s) (<= %s (* 2 %s))))", z, p[0], q[0], p[1], z, q[1],
		q[1], p[1])
	s.assert("(=> (= (* 2 %s) %s) (= (* 2 %s) %s))", p[0], q[0], p[1], q[1])
	if once {
		s.assert("(=> (= %s %s) (= %s %s))", p[0], q[0], p[1], q[1])
	}
}

// comparePowers compares all powers with each other, with 1 and with the largest.
func (s *printer) comparePowers() {
	list := [][2]string{{"0", "1"}, {fmt.Sprint(MaxExponent), fmt.Sprint(MaxShifted)}}
	for _, g := range s.powers {
		if !g.isConstant() {
			list = append(list, [2]string{s.sum(g.base, g.least), g.name})
		}
	}
	for _, p := range list {
		for _, q := range list {
			if p != q {
				s.assert("(=> (and (<= 0 %s) (< %s %s)) (<= (* 2 %s) %s))", p[0], p[0], q[0], p[1], q[1])
				s.assert("(=> (and (<= 0 %s) (< (+ %s 1) %s)) (<= (* 4 %s) %s))", p[0], p[0], q[0], p[1], q[1])
				s.assert("(=> (and (<= 0 %s) (= (+ %s 1) %s)) (= (* 2 %s) %s))", p[0], p[0], q[0], p[1], q[1])
				s.assert("(=> (= %s %s) (= %s %s))", p[0], q[0], p[1], q[1])
			}
		}
	}
}

// lowestBit compares x's lowest bit with all powers, and with those of others.
func (s *printer) lowestBit(x lowest, others []lowest) {
	s.assert("(=> (< 0 %s) (and (<= 1 %s) (<= %s %s)))", x.x, x.l, x.l, x.x)
	for _, y := range others {
		s.assert("(=> (= %s %s) (= %s %s))", x.x, y.x, x.l, y.l)
	}
	for _, g := range s.powers {
		if g.isConstant() {
			continue
		}
		q, qz := s.quotient(x.of, g)
		s.assert("(=> (< 0 %s) (= (= %s %s) (<= %s %s)))", x.x, x.x, qz, g.name, x.l)
		s.assert("(=> (and (< 0 %s) (= %s %s) (= (mod %s 2) 1)) (= %s %s))", x.x, x.x, qz, q, x.l, g.name)
		s.assert("(=> (and (< 0 %s) (= %s %s) (= (mod %s 2) 0)) (<= (* 2 %s) %s))", x.x, x.x, qz, q, g.name, x.l)
	}
}
