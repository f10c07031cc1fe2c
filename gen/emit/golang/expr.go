package golang

import (
	"fmt"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// operand is a printed expression.
type operand struct {
	code  *jen.Statement
	prec  int  // Go's precedence of its outermost operator; primary if it has none
	truth bool // of type bool, not int
}

// Go's precedences.
const (
	disjunction = iota + 1
	conjunction
	comparison
	sum
	product
	primary
)

// operator is how Go writes a binary operator.
type operator struct {
	text        string
	prec        int
	associative bool
	truths      bool // its operands are truth values
}

var operators = map[spec.ExprKind]operator{
	spec.AddExpr:    {text: "+", prec: sum, associative: true},
	spec.SubExpr:    {text: "-", prec: sum},
	spec.BitOrExpr:  {text: "|", prec: sum, associative: true},
	spec.BitXorExpr: {text: "^", prec: sum, associative: true},
	spec.MulExpr:    {text: "*", prec: product, associative: true},
	spec.DivExpr:    {text: "/", prec: product},
	spec.ModExpr:    {text: "%", prec: product},
	spec.BitAndExpr: {text: "&", prec: product, associative: true},
	spec.ShlExpr:    {text: "<<", prec: product},
	spec.ShrExpr:    {text: ">>", prec: product},
	spec.EqExpr:     {text: "==", prec: comparison},
	spec.NeExpr:     {text: "!=", prec: comparison},
	spec.LtExpr:     {text: "<", prec: comparison},
	spec.LeExpr:     {text: "<=", prec: comparison},
	spec.AndExpr:    {text: "&&", prec: conjunction, associative: true, truths: true},
	spec.OrExpr:     {text: "||", prec: disjunction, associative: true, truths: true},
}

// mirrored and negated are the comparisons with their operands exchanged, and with the opposite result.
var (
	mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
	negated  = map[string]string{"==": "!=", "!=": "==", "<": ">=", "<=": ">"}
)

func (o operand) kind() kind {
	if o.truth {
		return truth
	}
	return number
}

// at is o as an operand of an operator of precedence prec.
func (o operand) at(prec int) *jen.Statement {
	if o.prec < prec {
		return jen.Parens(o.code)
	}
	return o.code
}

// number prints e where Go needs an int.
func (s *scope) number(e spec.Expr) (*jen.Statement, error) {
	o, err := s.numeric(e)
	return o.code, err
}

func (s *scope) numeric(e spec.Expr) (operand, error) {
	o, err := s.expr(e)
	if err == nil && o.truth {
		err = fmt.Errorf("%v is a truth value where a number is needed: give If(…, 1, 0) a name with Let", e)
	}
	return o, err
}

// truth prints e where Go needs a bool.
func (s *scope) truth(e spec.Expr) (*jen.Statement, error) {
	o, err := s.logical(e)
	return o.code, err
}

func (s *scope) logical(e spec.Expr) (operand, error) {
	if e.Kind == spec.Const {
		return operand{code: jen.Lit(e.N != 0), prec: primary, truth: true}, nil
	}
	o, err := s.expr(e)
	if err == nil && !o.truth {
		return operand{code: jen.Add(o.at(comparison + 1)).Op("!=").Lit(0), prec: comparison, truth: true}, nil
	}
	return o, err
}

// expr prints e as what it is, a number or a truth value.
func (s *scope) expr(e spec.Expr) (operand, error) {
	if x, ok := s.bitLength(e); ok {
		return s.bitsLen(x)
	}
	switch e.Kind {
	case spec.Const:
		return operand{code: jen.Lit(e.N), prec: primary}, nil
	case spec.Variable:
		return s.variable(e.Name)
	case spec.MinExpr, spec.MaxExpr:
		return s.extremum(e)
	case spec.NotExpr:
		return s.negation(e.Args[0])
	case spec.Log2Expr:
		o, err := s.bitsLen(e.Args[0])
		return operand{code: jen.Add(o.code).Op("-").Lit(1), prec: sum}, err
	case spec.ReverseExpr:
		return s.reversed(e)
	case spec.CondExpr:
		return operand{}, fmt.Errorf("the conditional expression (%v) has no form in Go: in an algorithm, give it a "+
			"name with Let", e)
	}
	op, ok := operators[e.Kind]
	if !ok {
		return operand{}, fmt.Errorf("%v is not an expression", e)
	}
	if op.prec == comparison {
		return s.compare(e.Args[0], op.text, e.Args[1])
	}
	if isDivision(e) && e.Args[1].Kind == spec.Const && e.Args[1].N < 1 {
		return operand{}, fmt.Errorf("%v is a division by %d, which has no value", e, e.Args[1].N)
	}
	if e.Kind == spec.SubExpr && same(e.Args[0], spec.Int(0)) {
		o, err := s.numeric(e.Args[1])
		return operand{code: jen.Op("-").Add(o.at(primary)), prec: primary}, err
	}
	return s.binary(e, op)
}

func (s *scope) binary(e spec.Expr, op operator) (operand, error) {
	print := s.numeric
	if op.truths {
		print = s.logical
	}
	x, err := print(e.Args[0])
	if err != nil {
		return operand{}, err
	}
	y, err := print(e.Args[1])
	if err != nil {
		return operand{}, err
	}
	if e.Kind == spec.ShlExpr || e.Kind == spec.ShrExpr {
		y = asInt(e.Args[1], y)
	}
	right := op.prec + 1
	if op.associative && chains(e.Args[1], e.Kind) {
		right = op.prec
	}
	return operand{code: jen.Add(x.at(op.prec)).Op(op.text).Add(y.at(right)), prec: op.prec, truth: op.truths}, nil
}

// isDivision reports whether e is a quotient or a remainder. Go's are those of e, as its operands are not negative.
func isDivision(e spec.Expr) bool { return e.Kind == spec.DivExpr || e.Kind == spec.ModExpr }

// chains reports whether e needs no parentheses as the right operand of the associative operator kind: it is that
// operator too, and so is everything of its precedence that then comes to stand to the right of the first one.
func chains(e spec.Expr, kind spec.ExprKind) bool {
	if e.Kind != kind {
		return false
	}
	left := e.Args[0]
	bindsTighter := left.Kind != spec.Log2Expr && operators[left.Kind].prec != operators[kind].prec
	return bindsTighter || chains(left, kind)
}

// compare prints a comparison, with the side that varies less on the right.
func (s *scope) compare(x spec.Expr, op string, y spec.Expr) (operand, error) {
	if steadiness(x) > steadiness(y) {
		x, y, op = y, x, mirrored[op]
	}
	l, err := s.numeric(x)
	if err != nil {
		return operand{}, err
	}
	r, err := s.numeric(y)
	if err != nil {
		return operand{}, err
	}
	return operand{code: jen.Add(l.at(comparison + 1)).Op(op).Add(r.at(comparison + 1)), prec: comparison, truth: true},
		nil
}

// steadiness orders expressions by how little they vary.
func steadiness(e spec.Expr) int {
	switch {
	case e.Kind == spec.Const:
		return 2
	case e.Kind == spec.Variable && isCount(e.Name):
		return 1
	}
	return 0
}

// isCount reports whether the variable of that name is one of the parameters of a call that are 1 at least.
func isCount(name string) bool {
	return name == spec.Size.Name || name == spec.Depth.Name || name == spec.Local.Name
}

// negation prints the opposite of the truth value e.
func (s *scope) negation(e spec.Expr) (operand, error) {
	switch {
	case e.Kind == spec.NotExpr:
		return s.logical(e.Args[0])
	case e.Kind == spec.AndExpr:
		return s.logical(spec.Or(spec.Not(e.Args[0]), spec.Not(e.Args[1])))
	case e.Kind == spec.OrExpr:
		return s.logical(spec.And(spec.Not(e.Args[0]), spec.Not(e.Args[1])))
	case operators[e.Kind].prec == comparison:
		return s.compare(e.Args[0], negated[operators[e.Kind].text], e.Args[1])
	case e.Kind == spec.Const:
		return operand{code: jen.Lit(e.N == 0), prec: primary, truth: true}, nil
	}
	o, err := s.expr(e)
	if err == nil && !o.truth {
		return operand{code: jen.Add(o.at(comparison + 1)).Op("==").Lit(0), prec: comparison, truth: true}, nil
	}
	return operand{code: jen.Op("!").Add(o.at(primary)), prec: primary, truth: true}, err
}

// extremum prints min and max; those of more than two numbers as one.
func (s *scope) extremum(e spec.Expr) (operand, error) {
	var args []jen.Code
	for _, arg := range flatten(e, e.Kind) {
		code, err := s.number(arg)
		if err != nil {
			return operand{}, err
		}
		args = append(args, code)
	}
	name := "min"
	if e.Kind == spec.MaxExpr {
		name = "max"
	}
	return operand{code: jen.Id(name).Call(args...), prec: primary}, nil
}

func flatten(e spec.Expr, kind spec.ExprKind) []spec.Expr {
	if e.Kind != kind {
		return []spec.Expr{e}
	}
	return append(flatten(e.Args[0], kind), flatten(e.Args[1], kind)...)
}

// bitLength recognizes the number of bits of x: log2(x) + 1, and the x for which it is the ceiling of a logarithm.
func (s *scope) bitLength(e spec.Expr) (x spec.Expr, ok bool) {
	switch {
	case e.Kind == spec.AddExpr && e.Args[0].Kind == spec.Log2Expr && e.Args[1].Kind == spec.Const && e.Args[1].N == 1:
		return e.Args[0].Args[0], true
	case isCeiling(e):
		of := e.Args[0].Args[0]
		if !s.isPositive(of) {
			of = spec.Max(of, spec.Int(1)) // of what is less, the ceiling is 0
		}
		return spec.Sub(of, spec.Int(1)), true
	}
	return spec.Expr{}, false
}

// isCeiling recognizes the ceiling of a logarithm.
func isCeiling(e spec.Expr) bool {
	return e.Kind == spec.CondExpr && e.Args[0].Kind == spec.LeExpr && same(e, spec.CeilLog2(e.Args[0].Args[0]))
}

// isPositive reports whether e is 1 at least: size or depth, or what is added to them is not negative.
func (s *scope) isPositive(e spec.Expr) bool {
	switch {
	case e.Kind == spec.AddExpr:
		x, y := e.Args[0], e.Args[1]
		return s.isPositive(x) && (s.isNatural(y) || s.isPositive(y)) || s.isNatural(x) && s.isPositive(y)
	case e.Kind == spec.Variable:
		return s.isNatural(e) && isCount(e.Name)
	}
	return e.Kind == spec.Const && e.N > 0
}

func (s *scope) bitsLen(x spec.Expr) (operand, error) {
	o, err := s.numeric(x)
	return operand{code: jen.Qual("math/bits", "Len").Call(jen.Id("uint").Call(asInt(x, o).code)), prec: primary}, err
}

// reversed prints lower bits in the opposite order.
func (s *scope) reversed(e spec.Expr) (operand, error) {
	x, err := s.numeric(e.Args[0])
	if err != nil {
		return operand{}, err
	}
	k, err := s.numeric(spec.Sub(spec.Int(32), e.Args[1]))
	all := jen.Qual("math/bits", "Reverse32").Call(jen.Id("uint32").Call(asInt(e.Args[0], x).code))
	return operand{code: jen.Int().Call(all.Op(">>").Add(asInt(spec.Sub(spec.Int(32), e.Args[1]), k).at(product + 1))),
		prec: primary}, err
}

// asInt is o, which prints e, where Go would take another type than int for constants that are shifted.
func asInt(e spec.Expr, o operand) operand {
	if !takesType(e) || len(variables(e)) == 0 {
		return o
	}
	return operand{code: jen.Int().Call(o.code), prec: primary}
}

// takesType reports whether e, which is no constant, has in Go the type that is wanted where it stands: only constants,
// and shifts of them, have no type of their own.
func takesType(e spec.Expr) bool {
	switch e.Kind {
	case spec.Const:
		return true
	case spec.ShlExpr, spec.ShrExpr:
		return takesType(e.Args[0])
	case spec.AddExpr, spec.SubExpr, spec.MulExpr, spec.DivExpr, spec.ModExpr, spec.MinExpr, spec.MaxExpr,
		spec.BitAndExpr, spec.BitOrExpr, spec.BitXorExpr:
		return takesType(e.Args[0]) && takesType(e.Args[1])
	}
	return false
}

func (s *scope) variable(name string) (operand, error) {
	k, ok := s.lookup(name)
	if !ok {
		return operand{}, fmt.Errorf("%s is not defined here", name)
	}
	return operand{code: jen.Id(name), prec: primary, truth: k == truth}, nil
}
