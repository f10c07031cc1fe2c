package spec

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Expr is an integer expression. The zero Expr is absent: a field of type Expr says what its absence means.
//
// A wrap-around is best a conditional ([Up], [Down]), which a solver proves far faster than [Mod].
type Expr struct {
	Kind ExprKind
	N    int    // the value of a Const
	Name string // the name of a Variable
	Args []Expr // the operands, in the order in which the kind's constructor takes them
}

// ExprKind is the operator of an Expr.
type ExprKind uint8

// The kinds of expression. Comparisons and logic yield 0 or 1; every value but 0 counts as true.
const (
	Absent ExprKind = iota
	Const
	Variable
	AddExpr
	SubExpr
	MulExpr
	DivExpr
	ModExpr
	MinExpr
	MaxExpr
	EqExpr
	NeExpr
	LtExpr
	LeExpr
	AndExpr
	OrExpr
	NotExpr
	CondExpr
	ShlExpr
	ShrExpr
	BitAndExpr
	BitOrExpr
	BitXorExpr
	Log2Expr
	ReverseExpr
)

// The variables that every specification and algorithm may use.
var (
	Rank  = Var("rank")  // the rank that evaluates the expression, 0 <= rank < size
	Size  = Var("size")  // the number of ranks in the communicator
	Root  = Var("root")  // the root of a rooted primitive; the sender of a point-to-point one
	Peer  = Var("peer")  // the receiver of a point-to-point primitive
	Block = Var("block") // the block that a Clause mentions
	Depth = Var("depth") // how many pieces a pipelined algorithm cuts its chunks into, >= 1; a parameter of the call

	// Local is the number of ranks on each host, 1 <= local <= size: hosts hold consecutive ranks, the last one maybe
	// fewer. It is a fact of the communicator.
	Local = Var("local")
)

// Int returns the constant n.
func Int(n int) Expr { return Expr{Kind: Const, N: n} }

// Var returns the variable called name.
func Var(name string) Expr { return Expr{Kind: Variable, Name: name} }

// Add returns x + y.
func Add(x, y Expr) Expr { return op(AddExpr, x, y) }

// Sub returns x - y.
func Sub(x, y Expr) Expr { return op(SubExpr, x, y) }

// Mul returns x × y.
func Mul(x, y Expr) Expr { return op(MulExpr, x, y) }

// Div returns the floor of x / y, for x >= 0 and y >= 1. Of other operands it has no value: Eval returns an *EvalError.
func Div(x, y Expr) Expr { return op(DivExpr, x, y) }

// Mod returns the remainder of x / y, in 0..y-1, for x >= 0 and y >= 1. Of other operands it has no value, as Div.
func Mod(x, y Expr) Expr { return op(ModExpr, x, y) }

// Min returns the smaller of x and y.
func Min(x, y Expr) Expr { return op(MinExpr, x, y) }

// Max returns the larger of x and y.
func Max(x, y Expr) Expr { return op(MaxExpr, x, y) }

// Eq returns x = y.
func Eq(x, y Expr) Expr { return op(EqExpr, x, y) }

// Ne returns x ≠ y.
func Ne(x, y Expr) Expr { return op(NeExpr, x, y) }

// Lt returns x < y.
func Lt(x, y Expr) Expr { return op(LtExpr, x, y) }

// Le returns x ≤ y.
func Le(x, y Expr) Expr { return op(LeExpr, x, y) }

// Gt returns x > y.
func Gt(x, y Expr) Expr { return Lt(y, x) }

// Ge returns x ≥ y.
func Ge(x, y Expr) Expr { return Le(y, x) }

// And holds when both x and y do. Both are evaluated.
func And(x, y Expr) Expr { return op(AndExpr, x, y) }

// Or holds when x or y does. Both are evaluated.
func Or(x, y Expr) Expr { return op(OrExpr, x, y) }

// Not holds when x does not.
func Not(x Expr) Expr { return op(NotExpr, x) }

// If is then where cond holds, and otherwise els.
func If(cond, then, els Expr) Expr { return op(CondExpr, cond, then, els) }

// Shl returns x × 2^k, for 0 <= k < 32.
func Shl(x, k Expr) Expr { return op(ShlExpr, x, k) }

// Shr returns the floor of x / 2^k, for 0 <= k < 32.
func Shr(x, k Expr) Expr { return op(ShrExpr, x, k) }

// BitAnd returns the bitwise and of x and y, two's complement.
func BitAnd(x, y Expr) Expr { return op(BitAndExpr, x, y) }

// BitOr returns the bitwise or of x and y, two's complement.
func BitOr(x, y Expr) Expr { return op(BitOrExpr, x, y) }

// BitXor returns the bitwise exclusive or of x and y, two's complement.
func BitXor(x, y Expr) Expr { return op(BitXorExpr, x, y) }

// Log2 returns the floor of the binary logarithm of x, for x >= 1.
func Log2(x Expr) Expr { return op(Log2Expr, x) }

// Reverse returns the lower k bits of x in the opposite order, for 0 <= k < 32.
func Reverse(x, k Expr) Expr { return op(ReverseExpr, x, k) }

// CeilLog2 returns the ceiling of the binary logarithm of x, for x >= 1.
func CeilLog2(x Expr) Expr { return If(Le(x, Int(1)), Int(0), Add(Log2(Sub(x, Int(1))), Int(1))) }

// Up returns x, less n when x has reached n: the wrap-around of a sum of two numbers in 0..n-1.
func Up(x, n Expr) Expr { return If(Lt(x, n), x, Sub(x, n)) }

// Down returns x, plus n when x is negative: the wrap-around of a difference of two numbers in 0..n-1.
func Down(x, n Expr) Expr { return If(Lt(x, Int(0)), Add(x, n), x) }

func op(k ExprKind, args ...Expr) Expr { return Expr{Kind: k, Args: args} }

// IsAbsent reports whether e is the zero Expr.
func (e Expr) IsAbsent() bool { return e.Kind == Absent }

// OrElse returns e, or other when e is absent.
func (e Expr) OrElse(other Expr) Expr {
	if e.IsAbsent() {
		return other
	}
	return e
}

// Env gives variables their values: the last binding of a name counts.
type Env []Binding

// Binding is one variable and its value.
type Binding struct {
	Name  string
	Value int
}

// With is env and one more binding. It may share env's memory, so env is not to be extended again.
func (env Env) With(name string, value int) Env { return append(env, Binding{name, value}) }

func (env Env) lookup(name string) (int, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if env[i].Name == name {
			return env[i].Value, true
		}
	}
	return 0, false
}

// EvalError says why an expression has no value.
type EvalError struct {
	Expr   Expr
	Reason string
}

func (e *EvalError) Error() string { return fmt.Sprintf("%v: %s", e.Expr, e.Reason) }

// Eval returns the value of e under env, or an *EvalError: a variable that env does not bind, an operand out of range.
func (e Expr) Eval(env Env) (int, error) { return e.eval(env) }

func (e *Expr) eval(env Env) (int, error) {
	switch e.Kind {
	case Const:
		return e.N, nil
	case Variable:
		if v, ok := env.lookup(e.Name); ok {
			return v, nil
		}
		return 0, &EvalError{*e, "is not defined here"}
	case CondExpr:
		return e.evalCond(env)
	}
	if !e.WellFormed() {
		return 0, &EvalError{*e, "is not an expression"}
	}
	var v [2]int
	for i := range e.Args {
		x, err := e.Args[i].eval(env)
		if err != nil {
			return 0, err
		}
		v[i] = x
	}
	return e.apply(v[0], v[1])
}

func (e *Expr) evalCond(env Env) (int, error) {
	if !e.WellFormed() {
		return 0, &EvalError{*e, "is not an expression"}
	}
	c, err := e.Args[0].eval(env)
	if err != nil {
		return 0, err
	}
	if c != 0 {
		return e.Args[1].eval(env)
	}
	return e.Args[2].eval(env)
}

var arity = [...]int{
	AddExpr: 2, SubExpr: 2, MulExpr: 2, DivExpr: 2, ModExpr: 2, MinExpr: 2, MaxExpr: 2, EqExpr: 2, NeExpr: 2,
	LtExpr: 2, LeExpr: 2, AndExpr: 2, OrExpr: 2, NotExpr: 1, ShlExpr: 2, ShrExpr: 2, BitAndExpr: 2, BitOrExpr: 2,
	BitXorExpr: 2,
	Log2Expr:   1, ReverseExpr: 2, CondExpr: 3,
}

func (e *Expr) apply(x, y int) (int, error) {
	switch e.Kind {
	case AddExpr:
		return x + y, nil
	case SubExpr:
		return x - y, nil
	case MulExpr:
		return x * y, nil
	case DivExpr, ModExpr:
		return e.divide(x, y)
	case MinExpr:
		return min(x, y), nil
	case MaxExpr:
		return max(x, y), nil
	case EqExpr:
		return truth(x == y), nil
	case NeExpr:
		return truth(x != y), nil
	case LtExpr:
		return truth(x < y), nil
	case LeExpr:
		return truth(x <= y), nil
	case AndExpr:
		return truth(x != 0 && y != 0), nil
	case OrExpr:
		return truth(x != 0 || y != 0), nil
	case NotExpr:
		return truth(x == 0), nil
	case BitAndExpr:
		return x & y, nil
	case BitOrExpr:
		return x | y, nil
	case BitXorExpr:
		return x ^ y, nil
	case ShlExpr, ShrExpr, ReverseExpr:
		return e.shift(x, y)
	}
	if x < 1 { // Log2Expr
		return 0, &EvalError{*e, "logarithm of " + strconv.Itoa(x)}
	}
	return bits.Len(uint(x)) - 1, nil
}

// divide refuses negative dividends, of which Go truncates the quotient: so all readers of e agree on what it is.
func (e *Expr) divide(x, y int) (int, error) {
	switch {
	case y < 1:
		return 0, &EvalError{*e, "division by " + strconv.Itoa(y)}
	case x < 0:
		return 0, &EvalError{*e, "division of " + strconv.Itoa(x)}
	case e.Kind == DivExpr:
		return x / y, nil
	}
	return x % y, nil
}

func (e *Expr) shift(x, k int) (int, error) {
	if k < 0 || k >= 32 {
		return 0, &EvalError{*e, "shift by " + strconv.Itoa(k)}
	}
	switch e.Kind {
	case ShlExpr:
		return x << k, nil
	case ShrExpr:
		return x >> k, nil
	}
	return int(bits.Reverse32(uint32(x)) >> (32 - k)), nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

var infix = [...]string{
	AddExpr: "+", SubExpr: "-", MulExpr: "*", DivExpr: "/", ModExpr: "%", EqExpr: "==", NeExpr: "!=", LtExpr: "<",
	LeExpr:  "<=",
	AndExpr: "&&", OrExpr: "||", ShlExpr: "<<", ShrExpr: ">>", BitAndExpr: "&", BitOrExpr: "|", BitXorExpr: "^",
	MinExpr: "", MaxExpr: "", NotExpr: "", CondExpr: "", Log2Expr: "", ReverseExpr: "",
}

// String returns e as one writes it in Go, a conditional as if c then x else y; equal expressions have equal strings.
func (e Expr) String() string { return e.text(false) }

// separates reports whether e's text sets its operand a apart, so that a needs no parentheses.
func (e Expr) separates(a Expr) bool {
	return e.Kind == MinExpr || e.Kind == MaxExpr || e.Kind == Log2Expr || e.Kind == ReverseExpr || e.Kind == CondExpr &&
		a.Kind != CondExpr
}

func (e Expr) text(nested bool) string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.text(!e.separates(a))
	}
	var s string
	switch {
	case e.Kind == Absent:
		return "none"
	case e.Kind == Const:
		return strconv.Itoa(e.N)
	case e.Kind == Variable:
		return e.Name
	case e.Kind == CondExpr && len(args) == 3:
		s = "if " + args[0] + " then " + args[1] + " else " + args[2]
	case int(e.Kind) >= len(arity) || len(args) != arity[e.Kind]:
		return fmt.Sprintf("invalid(%d)", e.Kind)
	case e.Kind == MinExpr:
		return "min(" + args[0] + ", " + args[1] + ")"
	case e.Kind == MaxExpr:
		return "max(" + args[0] + ", " + args[1] + ")"
	case e.Kind == Log2Expr:
		return "log2(" + args[0] + ")"
	case e.Kind == ReverseExpr:
		return "reverse(" + args[0] + ", " + args[1] + ")"
	case e.Kind == NotExpr:
		return "!" + args[0]
	default:
		s = args[0] + " " + infix[e.Kind] + " " + args[1]
	}
	if nested {
		return "(" + s + ")"
	}
	return s
}

// WellFormed reports whether e's kind exists and e has as many operands as it takes; it says nothing of the operands.
func (e *Expr) WellFormed() bool {
	if e.Kind == Const {
		return len(e.Args) == 0
	}
	return int(e.Kind) < len(arity) && arity[e.Kind] > 0 && len(e.Args) == arity[e.Kind]
}
