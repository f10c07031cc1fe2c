package spec_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/collgen/collgen/spec"
)

func TestParse(t *testing.T) {
	x, y, z := Var("x"), Var("y"), Var("z")
	for text, want := range map[string]Expr{
		"x":                           x,
		" ( x ) ":                     x,
		"-3":                          Int(-3),
		"x - -3":                      Sub(x, Int(-3)),
		"x-3":                         Sub(x, Int(3)),
		"-x":                          Sub(Int(0), x),
		"!x && y":                     And(Not(x), y),
		"x + y * z":                   Add(x, Mul(y, z)),
		"x - y - z":                   Sub(Sub(x, y), z),
		"x << 1 + y":                  Add(Shl(x, Int(1)), y),
		"x & 1 == 0":                  Eq(BitAnd(x, Int(1)), Int(0)),
		"x ^ y | z":                   BitOr(BitXor(x, y), z),
		"x/y%z":                       Mod(Div(x, y), z),
		"x > y || x >= z":             Or(Lt(y, x), Le(z, x)),
		"min(x, max(y, z)) + log2(x)": Add(Min(x, Max(y, z)), Log2(x)),
		"up(x + 1, y)":                Up(Add(x, Int(1)), y),
		"down(x - 1, y)":              Down(Sub(x, Int(1)), y),
		"ceilLog2(x)":                 CeilLog2(x),
		"if x then y else z + 1":      If(x, y, Add(z, Int(1))),
		"(if x then y else z) + 1":    Add(If(x, y, z), Int(1)),
		"if x then if y then 1 else 2 else if z then 3 else 4": If(x, If(y, Int(1), Int(2)), If(z, Int(3), Int(4))),
		"0x10": Int(16),
		"min":  Var("min"),
	} {
		if got, err := Parse(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                         "column 1: want an operand at the end",
		"x +":                      "column 4: want an operand at the end",
		"x y":                      `column 3: want an operator or the end instead of "y"`,
		"(x":                       `column 3: want ")" at the end`,
		"x)":                       `column 2: want an operator or the end instead of ")"`,
		"min(x)":                   "min takes 2 operands, and not 1",
		"log2(x, y)":               "log2 takes 1 operands, and not 2",
		"if x then y":              `want "else" at the end`,
		"x = y":                    `instead of "="`,
		"power(x)":                 `instead of "("`,
		"99999999999999999999":     "is too large",
		"x $ y":                    `instead of "$"`,
		"08":                       "column 2: invalid digit",
		strings.Repeat("(", 1<<15): "more than 16384",
		strings.Repeat("-", 1<<14): "want an operand at the end",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q is %v, %v; want %q", text, got, err, want)
		}
	}
}

// someExpr draws an expression of any kind.
func someExpr(t *rapid.T, depth int) Expr {
	kind := ExprKind(rapid.IntRange(int(Const), int(ReverseExpr)).Draw(t, "kind"))
	e := Expr{Kind: kind}
	switch {
	case kind == Variable || depth == 0 && kind != Const:
		return Var(rapid.SampledFrom([]string{"rank", "size", "x_1", "min"}).Draw(t, "name"))
	case kind == Const:
		return Int(rapid.Int().Draw(t, "n"))
	}
	for !e.WellFormed() {
		e.Args = append(e.Args, someExpr(t, depth-1))
	}
	return e
}

// TestParseString: an expression is what its text says.
func TestParseString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := someExpr(t, 4)
		if got, err := Parse(e.String()); err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%v is %v, %v", e, got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("if x then min(y, -1) else z << 2 == 0x1")
	f.Add("((((")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(e.String()); len(e.String()) < 1<<14 && (err != nil || again.String() != e.String()) {
			t.Errorf("%q is %v, and that is %v, %v", text, e, again, err)
		}
	})
}
