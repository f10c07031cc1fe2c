package emit

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// SMT prints an obligation as a script for a solver of SMT-LIB 2: what is presumed, and that the goal does not hold. The
// solver proves the obligation by answering unsat. Otherwise its model gives values to o's variables.
//
// Numbers are integers, and everything is linear. A product of two unknowns, a power of two, a shifted number, a logarithm and a
// lowest bit are unknown numbers themselves, of which the script says, for those that occur in it, what the scripts of [Lemmas] prove
// of all numbers. Where there are shifts by variables, sizes go to [MaxShifted]: shifted says so.
func SMT(o *induct.Obligation) (script string, shifted bool, err error) {
	s := &smt{o: o, defs: map[string]spec.Expr{}, truth: map[string]bool{}, groups: map[string]*power{}, known: map[string]string{}, atoms: map[string]spec.Expr{}}
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

// MaxShifted is the largest size of which obligations speak that have powers of two in them: 2^31, as shifts are by less than 32.
const MaxShifted = 1 << MaxExponent

// MaxExponent is the largest shift.
const MaxExponent = 31

// symbol is a name as a script has it: names of SMT-LIB's own are other ones there.
func symbol(name string) string {
	if ownNames[name] {
		return name + "!"
	}
	return name
}

var ownNames = func() map[string]bool {
	own := map[string]bool{}
	for _, name := range strings.Fields("and or xor not ite distinct true false let forall exists par as match mod div abs select store " +
		"assert push pop reset exit echo is_int to_int to_real") {
		own[name] = true
	}
	return own
}()

// smt is a script in the making.
type smt struct {
	b     strings.Builder
	o     *induct.Obligation
	defs  map[string]spec.Expr
	truth map[string]bool   // the names of conditions
	known map[string]string // by what they are: the names of unknown numbers

	atoms   map[string]spec.Expr // what exponents consist of, by their texts
	groups  map[string]*power    // by what their exponents have in common
	powers  []*power             // the same, in the order in which they are met
	factors []*factor
	lowest  []lowest
	sides   []string // what has to hold besides the goal, so that the powers are powers
	err     error
}

func (s *smt) assert(format string, args ...any) {
	fmt.Fprintf(&s.b, "(assert "+format+")\n", args...)
}

// unknown declares a number, once for what it is.
func (s *smt) unknown(name, what string) (is string, isNew bool) {
	if n, ok := s.known[what]; ok {
		return n, false
	}
	n := fmt.Sprintf("%s!%d", name, len(s.known))
	s.known[what] = n
	fmt.Fprintf(&s.b, "(declare-const %s Int) ; %s\n", n, what)
	return n, true
}

func (s *smt) names() {
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
			fmt.Fprintf(&s.b, "(define-fun %s () Int %s)\n", symbol(n.Name), is)
		}
	}
}

// resolve is what a name is short for.
func (s *smt) resolve(e spec.Expr) spec.Expr {
	for e.Kind == spec.Variable {
		d, ok := s.defs[e.Name]
		if !ok {
			return e
		}
		e = d
	}
	return e
}

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

// isTruth tells whether e is a condition.
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
