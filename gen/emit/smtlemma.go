package emit

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/spec"
)

// factor is the products with one factor.
type factor struct {
	z     string
	times [][2]string // other factors, and the products
}

// factor finds the products with z, or begins their list with those by 0 and 1.
func (s *smt) factor(z string) *factor {
	for _, f := range s.factors {
		if f.z == z {
			return f
		}
	}
	f := &factor{z, [][2]string{{"0", "0"}, {"1", z}}}
	s.factors = append(s.factors, f)
	return f
}

func (f *factor) add(x, product string) { f.times = append(f.times, [2]string{x, product}) }

// lemmas says of the unknown numbers what is true of them.
func (s *smt) lemmas() {
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
					s.ordered(f.z, p, q, i < j)
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
func (s *smt) isIdle(f *factor) bool {
	if len(f.times) != 3 {
		return false
	}
	return slices.ContainsFunc(s.factors, func(g *factor) bool {
		return g != f && len(g.times) > 3 && slices.ContainsFunc(g.times[2:], func(p [2]string) bool { return p[1] == f.times[2][1] })
	})
}

// isShifted reports whether there are powers that are not constants.
func (s *smt) isShifted() bool {
	return slices.ContainsFunc(s.powers, func(g *power) bool { return !g.isConstant() })
}

// multiple says that the powers of h are even multiples of smaller ones of g.
func (s *smt) multiple(g, h *power) {
	half, _ := s.unknown("ratio", "half of "+h.name+" / "+g.name)
	product, _ := s.unknown("product", "2 * "+half+" * "+g.name)
	g.by.add(scaled(2, half), product)
	less, more := s.sum(g.base, g.least), s.sum(h.base, h.least)
	s.assert("(=> (and (<= 0 %s) (< %s %s)) (and (<= 1 %s) (= %s %s)))", less, less, more, half, product, h.name)
}

// ordered compares the products of z by p and by q.
func (s *smt) ordered(z string, p, q [2]string, once bool) {
	if p == q {
		return
	}
	s.assert("(=> (and (<= 1 %s) (< %s %s)) (<= (+ %s %s) %s))", z, p[0], q[0], p[1], z, q[1])
	s.assert("(=> (and (<= 1 %s) (< (+ %s 1) %s)) (<= (+ %s %s %s) %s))", z, p[0], q[0], p[1], z, z, q[1])
	s.assert("(=> (= (+ %s 1) %s) (= (+ %s %s) %s))", p[0], q[0], p[1], z, q[1])
	if once {
		s.assert("(=> (= %s %s) (= %s %s))", p[0], q[0], p[1], q[1])
	}
}

// comparePowers compares all powers with each other, with 1 and with the largest.
func (s *smt) comparePowers() {
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

// lowest is a number and the largest power of two that divides it.
type lowest struct {
	of   spec.Expr
	x, l string
}

// lowestBit compares x's lowest bit with all powers, and with those of others.
func (s *smt) lowestBit(x lowest, others []lowest) {
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
