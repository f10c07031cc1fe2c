package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// maxNumber is more than the numbers x for which the lemmas about bits are proved: their sums fit 64 bits.
const maxNumber int64 = 1 << 62

// Lemma is something that scripts presume of numbers, as a script of its own: it is proved by unsat.
type Lemma struct{ Name, Script string }

// Lemmas returns all that scripts may presume, besides what integers and their sums are. That log2 of x is the number k
// with 2^k <= x < 2^(k+1) is what it means. Those about bits are proved for numbers of 64 bits, exponents up to
// MaxExponent, and all x of less than 2^62 in size that, where they are shifted to the left, fit 64 bits. Exponents
// that are compared with each other by a constant differ by less than 4.
func Lemmas() []Lemma {
	return []Lemma{ // the first is the one that is not about bits
		{"products with a positive number are ordered as the other factors are", products(
			"(and (= (+ (* x z) z) (* (+ x 1) z)) (=> (<= 1 z)",
			"  (and (<= (+ (* x z) z) (* (+ x 1 d) z)) (<= (+ (* x z) z z) (* (+ x 2 d) z)))))")},
		{"a power of two is an even multiple of each smaller one", onBits(
			"(=> (bvult e f) (and (bvule (bvshl one e) (bvlshr (pow f) one))",
			"  (= (pow f) (bvshl (bvshl (pow (bvsub (bvsub f e) one)) one) e))",
			"  (=> (bvult (bvadd e one) f) (bvule (pow e) (bvlshr (pow f) (bvadd one one))))",
			"  (=> (= (bvadd e one) f) (= (bvadd (pow e) (pow e)) (pow f)))))")},
		{"a shift to the right is the floor of a division", onBits(
			"(and (bvsle (bvshl (bvashr x e) e) x) (bvslt x (bvadd (bvshl (bvashr x e) e) (pow e))))")},
		{"shifts to the right add up", onBits(
			"(=> (bvult f (_ bv4 64)) (= (bvashr x (bvadd e f)) (bvashr (bvashr x e) f)))")},
		{"a shift to the left and less far back is a shift to the left", onBits(
			"(=> (and (bvult f (_ bv4 64)) (bvule (bvadd e f) (_ bv31 64)) (= (bvashr (bvshl x (bvadd e f)) (bvadd e f)) x))",
			"  (= (bvashr (bvshl x (bvadd e f)) e) (bvshl x f)))")},
		{"to change a bit is to add or to subtract it", onBits(
			"(= (bvxor x (pow e)) (ite (= (bvand (bvashr x e) one) one) (bvsub x (pow e)) (bvadd x (pow e))))")},
		{"the lower bits are the remainder", onBits(
			"(= (bvand x (bvsub (pow e) one)) (bvsub x (bvshl (bvashr x e) e)))")},
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
	operations := []spec.ExprKind{spec.ShlExpr, spec.ShrExpr, spec.BitAndExpr, spec.BitXorExpr, spec.Log2Expr}
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
	b.WriteString("(define-fun one () (_ BitVec 64) (_ bv1 64))\n(define-fun pow ((k (_ BitVec 64))) (_ BitVec 64) (bvshl (_ bv1 64) k))\n")
	for _, name := range []string{"e", "f"} {
		fmt.Fprintf(&b, "(assert (bvule %s (_ bv%d 64)))\n", name, MaxExponent)
	}
	fmt.Fprintf(&b, "(assert (bvslt x (_ bv%d 64)))\n(assert (bvslt (bvneg (_ bv%d 64)) x))\n", maxNumber, maxNumber)
	fmt.Fprintf(&b, "(assert (not %s))\n(check-sat)\n", strings.Join(law, "\n"))
	return b.String()
}
