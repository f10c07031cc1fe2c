package spec

import (
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// Parse returns the expression that text says, in the notation of [Expr.String]: Go's operators, with Go's precedence,
// min(x, y), max(x, y), log2(x), and "if c then x else y", which reaches as far as it can. Besides these there are
// x > y, x >= y, ceilLog2(x), up(x, n) and down(x, n), as [Gt], [Ge], [CeilLog2], [Up] and [Down].
func Parse(text string) (Expr, error) {
	p := newParser(text)
	e := p.expr(1)
	if p.err == nil && p.next != "" {
		p.fail("an operator or the end")
	}
	return e, p.err
}

// longestText is what a parser takes, in bytes, so that the depth of its recursion has a limit.
const longestText = 1 << 14

type parser struct {
	in   scanner.Scanner
	next string // the token to read; "": there are no more
	kind rune   // of it
	at   int    // its column, from 1
	text string
	err  error // the first one
}

func newParser(text string) *parser {
	p := &parser{text: text}
	if len(text) > longestText {
		p.err = fmt.Errorf("an expression of %d bytes, more than %d", len(text), longestText)
		return p
	}
	p.in.Init(strings.NewReader(text))
	p.in.Mode = scanner.ScanIdents | scanner.ScanInts
	p.in.Error = func(in *scanner.Scanner, message string) {
		p.at = in.Pos().Offset
		p.failed("%s", message)
	}
	p.advance()
	return p
}

// doubled are the operators of two characters.
var doubled = []string{"==", "!=", "<=", ">=", "&&", "||", "<<", ">>"}

func (p *parser) advance() {
	p.kind = p.in.Scan()
	p.next, p.at = p.in.TokenText(), p.in.Position.Offset+1
	for _, op := range doubled {
		if p.kind == rune(op[0]) && p.in.Peek() == rune(op[1]) {
			p.in.Next()
			p.next = op
			return
		}
	}
}

// fail says what was to come instead of the next token.
func (p *parser) fail(wanted string) {
	if p.next == "" {
		p.failed("want %s at the end", wanted)
	} else {
		p.failed("want %s instead of %q", wanted, p.next)
	}
}

func (p *parser) failed(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%q, column %d: %s", p.text, p.at, fmt.Sprintf(format, args...))
	}
	p.next, p.kind = "", scanner.EOF
}

// take reads the next token if it is that one.
func (p *parser) take(token string) bool {
	if p.err != nil || p.next != token {
		return false
	}
	p.advance()
	return true
}

// want reads a token that has to come.
func (p *parser) want(token string) {
	if !p.take(token) {
		p.fail(strconv.Quote(token))
	}
}

// operators are those between two operands.
var operators = map[string]struct {
	precedence int
	of         func(x, y Expr) Expr
}{
	"||": {1, Or}, "&&": {2, And},
	"==": {3, Eq}, "!=": {3, Ne}, "<": {3, Lt}, "<=": {3, Le}, ">": {3, Gt}, ">=": {3, Ge},
	"+": {4, Add}, "-": {4, Sub}, "|": {4, BitOr}, "^": {4, BitXor},
	"*": {5, Mul}, "/": {5, Div}, "%": {5, Mod}, "<<": {5, Shl}, ">>": {5, Shr}, "&": {5, BitAnd},
}

// functions are those with operands in parentheses.
var functions = map[string]struct {
	operands int
	of       func(x []Expr) Expr
}{
	"min":      {2, func(x []Expr) Expr { return Min(x[0], x[1]) }},
	"max":      {2, func(x []Expr) Expr { return Max(x[0], x[1]) }},
	"up":       {2, func(x []Expr) Expr { return Up(x[0], x[1]) }},
	"down":     {2, func(x []Expr) Expr { return Down(x[0], x[1]) }},
	"log2":     {1, func(x []Expr) Expr { return Log2(x[0]) }},
	"reverse":  {2, func(x []Expr) Expr { return Reverse(x[0], x[1]) }},
	"ceilLog2": {1, func(x []Expr) Expr { return CeilLog2(x[0]) }},
}

// expr reads an expression whose operators bind at least so tightly.
func (p *parser) expr(precedence int) Expr {
	x := p.operand()
	for {
		op, known := operators[p.next]
		if !known || op.precedence < precedence || p.err != nil {
			return x
		}
		p.advance()
		x = op.of(x, p.expr(op.precedence+1))
	}
}

// operand reads what stands before or after an operator.
func (p *parser) operand() Expr {
	word := p.next
	switch {
	case p.kind == scanner.Int:
		return p.number("")
	case p.take("-"):
		if p.kind == scanner.Int {
			return p.number("-")
		}
		return Sub(Int(0), p.operand())
	case p.take("!"):
		return Not(p.operand())
	case p.take("("):
		x := p.expr(1)
		p.want(")")
		return x
	case p.take("if"):
		return p.conditional()
	case p.kind != scanner.Ident:
		p.fail("an operand")
		return Expr{}
	}
	p.advance()
	if f, known := functions[word]; known && p.take("(") {
		return f.of(p.arguments(word, f.operands))
	}
	return Var(word)
}

// number reads a constant.
func (p *parser) number(sign string) Expr {
	n, err := strconv.ParseInt(sign+p.next, 0, strconv.IntSize)
	if err != nil {
		p.failed("%s%s is too large", sign, p.next)
	}
	p.advance()
	return Int(int(n))
}

// conditional reads what comes after "if".
func (p *parser) conditional() Expr {
	c := p.expr(1)
	p.want("then")
	x := p.expr(1)
	p.want("else")
	return If(c, x, p.expr(1))
}

// arguments reads n operands of a function, and the parenthesis after them.
func (p *parser) arguments(function string, n int) []Expr {
	all := []Expr{p.expr(1)}
	for p.take(",") {
		all = append(all, p.expr(1))
	}
	p.want(")")
	if len(all) != n {
		p.failed("%s takes %d operands, and not %d", function, n, len(all))
		all = make([]Expr, n)
	}
	return all
}
