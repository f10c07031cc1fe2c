package emit

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// SMT prints an obligation as a script for a solver of SMT-LIB 2: what is presumed, and that the goal does not hold.
// The solver proves the obligation by answering unsat. Otherwise its model gives values to o's variables.
//
// Numbers are integers, and everything is linear. A product of two unknowns, a power of two, a shifted number, a
// logarithm and a lowest bit are unknown numbers themselves, of which the script says, for those that occur in it, what
// the scripts of [Lemmas] prove of all numbers. Where there are shifts by variables, sizes go to [MaxShifted]: shifted
// says so.
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

// MaxShifted is the largest size of which obligations speak that have powers of two in them: 2^31, as shifts are by
// less than 32.
const MaxShifted int64 = 1 << MaxExponent

// MaxExponent is the largest shift.
const MaxExponent = 31

// symbol returns a name as a script has it: names of SMT-LIB's own are other ones there.
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

// resolve returns what a name is short for.
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
