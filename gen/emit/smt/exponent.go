package smt

import (
	"fmt"
	"maps"

	"github.com/collgen/collgen/spec"
)

// linear returns e as a sum. What is no sum of other things is an atom.
func (s *printer) linear(e spec.Expr) linear {
	d := s.resolve(e)
	switch d.Kind {
	case spec.Const:
		return linear{plus: d.N}
	case spec.AddExpr:
		return s.linear(d.Args[0]).add(s.linear(d.Args[1]), 1)
	case spec.SubExpr:
		return s.linear(d.Args[0]).add(s.linear(d.Args[1]), -1)
	case spec.MulExpr:
		for i, factor := range d.Args {
			if factor.Kind == spec.Const {
				return linear{}.add(s.linear(d.Args[1-i]), factor.N)
			}
		}
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

// key returns the same for sums whose difference is a constant.
func (l linear) key() string { return fmt.Sprint(l.times) }

// exponents finds out which powers there are, and the least of those that differ by constants.
func (s *printer) exponents() {
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

// exponentIn returns the exponent of the power of two that e, as it stands, mentions.
func (s *printer) exponentIn(e spec.Expr) (spec.Expr, bool) {
	switch e.Kind {
	case spec.ShlExpr, spec.ShrExpr, spec.ReverseExpr:
		return e.Args[1], true
	case spec.BitAndExpr:
		return s.mask(e.Args[1])
	case spec.Log2Expr:
		return e, true
	}
	return spec.Expr{}, false
}

func is1(e spec.Expr) bool { return e.Kind == spec.Const && e.N == 1 }

// mask returns k where e is 2^k - 1.
func (s *printer) mask(e spec.Expr) (spec.Expr, bool) {
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

// group returns the group of the powers with an exponent.
func (s *printer) group(l linear) *power {
	g := s.groups[l.key()]
	if g == nil {
		g = &power{base: l, least: l.plus}
		s.groups[l.key()] = g
	}
	g.least = min(g.least, l.plus)
	return g
}

// isConstant reports whether the exponents are numbers that shifts may have.
func (g *power) isConstant() bool {
	return len(g.base.times) == 0 && g.least >= 0 && g.least <= MaxExponent
}
