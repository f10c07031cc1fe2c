// Package smt prints the obligations of a proof for every number of ranks as scripts for solvers of SMT-LIB 2.
package smt

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// SMT prints an obligation as a script for a solver of SMT-LIB 2: the assumptions, and the negated goal.
// The solver proves the obligation by answering unsat. Otherwise its model gives values to o's variables.
//
// Numbers are integers, and everything is linear. A product of two unknowns, a power of two, a shifted number, a
// logarithm and a lowest bit are unknown numbers themselves, of which the script says, for those that occur in it, what
// the scripts of [Lemmas] prove of all numbers. Where there are shifts by variables, sizes go to [MaxShifted]: shifted
// says so.
func Script(o *induct.Obligation) (script string, shifted bool, err error) {
	s := &printer{o: o, defs: map[string]spec.Expr{}, truth: map[string]bool{}, groups: map[string]*power{},
		known: map[string]string{}, alias: map[string]string{}, atoms: map[string]spec.Expr{}}
	for _, n := range o.Names {
		if !n.Is.IsAbsent() {
			s.defs[n.Name] = n.Is
		}
	}
	s.exponents()
	s.names()
	var given []string
	for _, g := range o.Given {
		given = append(given, s.formula(g))
	}
	goal := s.formula(o.Goal)
	for _, side := range s.sides {
		goal = fmt.Sprintf("(and %s %s)", goal, side)
	}
	s.lemmas()
	for _, g := range given {
		s.assert("%s", g)
	}
	s.assert("(not %s)", goal)
	return fmt.Sprintf("; %s\n(set-logic QF_LIA)\n%s(check-sat)\n", o, &s.b), s.isShifted(), s.err
}

func (s *printer) names() {
	for _, n := range s.o.Names {
		switch {
		case n.Is.IsAbsent():
			fmt.Fprintf(&s.b, "(declare-const %s Int)\n", symbol(n.Name))
			s.assert("(<= %s %s)", s.number(n.Min), symbol(n.Name))
			if !n.Max.IsAbsent() {
				s.assert("(< %s %s)", symbol(n.Name), s.number(n.Max))
			}
		case n.Truth:
			s.truth[n.Name] = true
			is := s.formula(n.Is)
			fmt.Fprintf(&s.b, "(define-fun %s () Bool %s)\n", symbol(n.Name), is)
		default:
			is := s.number(n.Is)
			if n.Is.Kind == spec.DivExpr && !strings.Contains(is, " ") { // products with a quotient are found under one name
				s.alias[n.Name] = is
			}
			fmt.Fprintf(&s.b, "(define-fun %s () Int %s)\n", symbol(n.Name), is)
		}
	}
}
