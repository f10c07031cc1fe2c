package spec_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

func TestEval(t *testing.T) {
	env := Env{{"rank", 3}, {"size", 5}, {"rank", 4}} // the last binding counts
	for _, c := range []struct {
		e    Expr
		want int
		text string
	}{
		{Int(-2), -2, "-2"},
		{Rank, 4, "rank"},
		{Add(Rank, Int(1)), 5, "rank + 1"},
		{Sub(Int(0), Mul(Rank, Size)), -20, "0 - (rank * size)"},
		{Min(Rank, Add(Size, Int(1))), 4, "min(rank, size + 1)"},
		{Max(Rank, Size), 5, "max(rank, size)"},
		{And(Eq(Rank, Int(4)), Ne(Rank, Size)), 1, "(rank == 4) && (rank != size)"},
		{Or(Lt(Size, Rank), Le(Size, Rank)), 0, "(size < rank) || (size <= rank)"},
		{And(Gt(Size, Rank), Ge(Size, Rank)), 1, "(rank < size) && (rank <= size)"},
		{Not(Int(7)), 0, "!7"},
		{If(Lt(Rank, Int(9)), Int(1), Var("nowhere")), 1, "if rank < 9 then 1 else nowhere"},
		{If(Int(0), Var("nowhere"), Int(2)), 2, "if 0 then nowhere else 2"},
		{Shl(Int(-1), Int(31)), -1 << 31, "-1 << 31"},
		{Shr(Int(-5), Int(1)), -3, "-5 >> 1"},
		{Reverse(Int(22), Int(4)), 6, "reverse(22, 4)"}, // of 0110 it is 0110
		{Reverse(Int(-3), Add(Int(2), Int(1))), 5, "reverse(-3, 2 + 1)"},
		{Reverse(Int(1), Int(31)), 1 << 30, "reverse(1, 31)"},
		{Reverse(Int(5), Int(0)), 0, "reverse(5, 0)"},
		{BitAnd(Int(12), Int(10)), 8, "12 & 10"},
		{BitOr(Int(12), Int(10)), 14, "12 | 10"},
		{BitOr(Int(-8), Int(3)), -5, "-8 | 3"},
		{BitXor(Int(12), Int(10)), 6, "12 ^ 10"},
		{Div(Int(11), Size), 2, "11 / size"},
		{Div(Int(0), Size), 0, "0 / size"},
		{Div(Int(12), Mul(Int(2), Int(3))), 2, "12 / (2 * 3)"},
		{Mul(Div(Int(12), Size), Int(3)), 6, "(12 / size) * 3"},
		{Mod(Int(11), Size), 1, "11 % size"},
		{Mod(Int(4), Size), 4, "4 % size"},
		{Mod(Add(Rank, Int(1)), Int(1)), 0, "(rank + 1) % 1"},
		{Log2(Int(1)), 0, "log2(1)"},
		{Log2(Int(31)), 4, "log2(31)"},
		{CeilLog2(Int(1)), 0, ""},
		{CeilLog2(Int(32)), 5, ""},
		{CeilLog2(Int(33)), 6, ""},
		{Up(Int(4), Size), 4, ""},
		{Up(Int(5), Size), 0, ""},
		{Down(Int(-1), Size), 4, ""},
		{Expr{}.OrElse(Int(6)), 6, "6"},
		{Int(6).OrElse(Rank), 6, "6"},
	} {
		if got, err := c.e.Eval(env); got != c.want || err != nil {
			t.Errorf("%v = %d, %v; want %d", c.e, got, err, c.want)
		}
		if c.text != "" && c.e.String() != c.text {
			t.Errorf("got %q, want %q", c.e, c.text)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{Expr{}, "none: is not an expression"},
		{Peer, "peer: is not defined here"},
		{Add(Int(1), Peer), "peer: is not defined here"},
		{Log2(Int(0)), "log2(0): logarithm of 0"},
		{Div(Int(3), Rank), "3 / rank: division by 0"},
		{Mod(Int(3), Sub(Rank, Int(1))), "3 % (rank - 1): division by -1"},
		{Div(Int(-3), Int(2)), "-3 / 2: division of -3"}, // Go's quotient is not its floor
		{Mod(Int(-4), Int(2)), "-4 % 2: division of -4"},
		{Expr{Kind: ModExpr, Args: []Expr{Rank}}, "is not an expression"},
		{Shl(Int(1), Int(32)), "1 << 32: shift by 32"},
		{Shr(Int(1), Int(-1)), "1 >> -1: shift by -1"},
		{Reverse(Int(1), Int(32)), "reverse(1, 32): shift by 32"},
		{If(Log2(Int(-1)), Int(1), Int(2)), "log2(-1): logarithm of -1"},
		{Expr{Kind: AddExpr, Args: []Expr{Rank}}, "is not an expression"},
		{Expr{Kind: CondExpr}, "is not an expression"},
		{Expr{Kind: 200}, "is not an expression"},
	} {
		_, err := c.e.Eval(Env{{"rank", 0}})
		var e *EvalError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.e, err, c.want)
		}
	}
}

// TestDivides: x is quotient × y + remainder, and the remainder is in 0..y-1.
func TestDivides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := Int(rapid.IntRange(0, 1<<30).Draw(t, "x")), Int(rapid.IntRange(1, 1<<20).Draw(t, "y"))
		both := And(Eq(Add(Mul(Div(x, y), y), Mod(x, y)), x), And(Le(Int(0), Mod(x, y)), Lt(Mod(x, y), y)))
		if holds, err := both.Eval(nil); holds != 1 || err != nil {
			t.Fatalf("%v: %d, %v", both, holds, err)
		}
	})
}

// TestWrap: Up, Down and Mod are what they stand for, the remainder, on the operands that they are made for.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "n")
		x, y := rapid.IntRange(0, n-1).Draw(t, "x"), rapid.IntRange(0, n-1).Draw(t, "y")
		up, err1 := Up(Add(Int(x), Int(y)), Int(n)).Eval(nil)
		down, err2 := Down(Sub(Int(x), Int(y)), Int(n)).Eval(nil)
		mod, err3 := Mod(Add(Int(x), Int(y)), Int(n)).Eval(nil)
		if up != (x+y)%n || down != (x-y+n)%n || mod != up || err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("%d ± %d modulo %d: %d, %d, %d", x, y, n, up, down, mod)
		}
	})
}
