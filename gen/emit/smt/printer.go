package smt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// power is the powers of two whose exponents differ by constants: 2^(base + least), 2^(base + least + 1), …, all of
// them multiples of the first.
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

// factor is the products with one factor.
type factor struct {
	z     string
	times [][2]string // other factors, and the products

	divides bool // it is the divisor of a quotient: the script says more of products whose other factors differ by 2
}

// lowest is a number and the largest power of two that divides it.
type lowest struct {
	of   spec.Expr
	x, l string
}

// reversal is a number below a power of two, and the one with its bits in the opposite order.
type reversal struct {
	g      *power
	low, n string
}

func (f *factor) add(x, product string) { f.times = append(f.times, [2]string{x, product}) }

// has reports whether the product with x is among them.
func (f *factor) has(x string) bool {
	return slices.ContainsFunc(f.times, func(p [2]string) bool { return p[0] == x })
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
	for _, name := range strings.Fields("and or xor not ite distinct true false let forall exists par as match mod div " +
		"abs select store assert push pop reset exit echo is_int to_int to_real") {
		own[name] = true
	}
	return own
}()

// smt is a script in the making.
type printer struct {
	b     strings.Builder
	o     *induct.Obligation
	defs  map[string]spec.Expr
	truth map[string]bool   // the names of conditions
	known map[string]string // by what they are: the names of unknown numbers
	alias map[string]string // the variables and unknown numbers that names are short for

	atoms   map[string]spec.Expr // what exponents consist of, by their texts
	groups  map[string]*power    // by what their exponents have in common
	powers  []*power             // the same, in the order in which they are met
	factors []*factor
	lowest  []lowest

	reversals []reversal
	sides     []string // what has to hold in addition to the goal: exponents are not negative
	err       error
}

func (s *printer) assert(format string, args ...any) {
	fmt.Fprintf(&s.b, "(assert "+format+")\n", args...)
}

// unknown declares a number, once for what it is.
func (s *printer) unknown(name, what string) (is string, isNew bool) {
	if n, ok := s.known[what]; ok {
		return n, false
	}
	n := fmt.Sprintf("%s!%d", name, len(s.known))
	s.known[what] = n
	fmt.Fprintf(&s.b, "(declare-const %s Int) ; %s\n", n, what)
	return n, true
}

// resolve returns what a name is short for.
func (s *printer) resolve(e spec.Expr) spec.Expr {
	for e.Kind == spec.Variable {
		d, ok := s.defs[e.Name]
		if !ok {
			return e
		}
		e = d
	}
	return e
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
