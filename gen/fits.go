package gen

import (
	"fmt"
	"math/bits"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Fits reports whether every value that the ranks of a work out fits an int, for up to selection.MaxRanks ranks and
// selection.MaxDepth pieces: its error names the first expression for which intervals do not show it. A proof for every
// number of ranks mentions integers without bounds, and Go's wrap around.
func Fits(a Algorithm) error {
	f := &fitting{of: map[string]interval{
		spec.Size.Name: {1, selection.MaxRanks}, spec.Rank.Name: {0, selection.MaxRanks - 1},
		spec.Root.Name: {0, selection.MaxRanks - 1},
		spec.Peer.Name: {0, selection.MaxRanks - 1}, spec.Block.Name: {0, selection.MaxRanks - 1},
		spec.Depth.Name: {1, selection.MaxDepth},
		spec.Local.Name: {1, selection.MaxRanks}, a.Param.Name: {int64(a.Param.Value), int64(a.Param.Value)},
	}}
	r := rewriter{expr: func(e spec.Expr) spec.Expr { f.value(e); return e }}
	r.body = func(nodes []Node) []Node {
		for _, n := range nodes {
			f.name(n)
			r.node(n)
		}
		return nodes
	}
	f.value(a.Requires.Size)
	r.algorithm(a)
	if f.wide == nil {
		return nil
	}
	return fmt.Errorf("%s: %v may not fit an int with %d ranks or fewer", a.FullName(), *f.wide, selection.MaxRanks)
}

// interval is all integers from lo to hi.
type interval struct{ lo, hi int64 }

// widest is what bounds stay within, so that sums of two of them are no more than an int64 holds.
const widest = 1 << 61

// fitting are the intervals of the variables, and the first expression that is beyond widest.
type fitting struct {
	of   map[string]interval
	wide *spec.Expr
}

// name adds the variable that a node names.
func (f *fitting) name(n Node) {
	switch n := n.(type) {
	case Let:
		f.of[n.Name] = f.value(n.Is)
	case For:
		f.of[n.Var] = interval{0, max(0, f.value(n.N).hi-1)}
	case Fold:
		f.fold(n)
	case Reduce:
		f.of[n.Var] = interval{0, max(0, f.value(n.N).hi-1)}
	}
}

// fold adds the numbers that n works out: for each an interval in which it is after any number of turns.
func (f *fitting) fold(n Fold) {
	turns := f.value(n.N).hi
	f.of[n.Var] = interval{0, max(0, turns-1)}
	for _, x := range n.State {
		f.of[x.Name] = f.value(x.First)
	}
	for turn := int64(0); turn <= turns && f.wide == nil; turn++ {
		for _, inner := range n.Body {
			f.name(inner)
		}
		grown := f.foldTurn(n)
		if grown == nil {
			return
		}
		if turn == mostTurns {
			f.wide = grown
		}
	}
}

// mostTurns is for how many turns of a Fold intervals may grow.
const mostTurns = 100

// foldTurn widens the intervals of n's numbers to what they are after one more turn. It returns the expression of one
// that has grown, or nil.
func (f *fitting) foldTurn(n Fold) (grown *spec.Expr) {
	next := make([]interval, len(n.State))
	for i, x := range n.State {
		next[i] = f.value(x.Next)
	}
	for i, x := range n.State {
		was := f.of[x.Name]
		is := interval{min(was.lo, next[i].lo), max(was.hi, next[i].hi)}
		if is != was {
			f.of[x.Name], grown = is, &n.State[i].Next
		}
	}
	return grown
}

// value returns an interval in which e is, all of whose operands are looked at.
func (f *fitting) value(e spec.Expr) interval {
	args := make([]interval, len(e.Args))
	for i, x := range e.Args {
		args[i] = f.value(x)
	}
	v, ok := f.apply(e, args)
	if !ok || v.lo < -widest || v.hi > widest {
		if f.wide == nil {
			f.wide = &e
		}
		return interval{}
	}
	return v
}

// apply returns e's operator on intervals. It is not ok if a product is beyond an int64.
func (f *fitting) apply(e spec.Expr, x []interval) (v interval, ok bool) {
	switch e.Kind {
	case spec.Const:
		return interval{int64(e.N), int64(e.N)}, true
	case spec.Variable:
		v, ok = f.of[e.Name]
		return v, ok
	case spec.AddExpr:
		return interval{x[0].lo + x[1].lo, x[0].hi + x[1].hi}, true
	case spec.SubExpr:
		return interval{x[0].lo - x[1].hi, x[0].hi - x[1].lo}, true
	case spec.MulExpr:
		return corners(x[0], x[1], product)
	case spec.DivExpr:
		return corners(atLeast(0, x[0]), atLeast(1, x[1]), func(a, b int64) (int64, bool) { return a / b, true })
	case spec.ModExpr:
		return interval{0, min(atLeast(0, x[0]).hi, atLeast(1, x[1]).hi-1)}, true
	case spec.MinExpr:
		return interval{min(x[0].lo, x[1].lo), min(x[0].hi, x[1].hi)}, true
	case spec.MaxExpr:
		return interval{max(x[0].lo, x[1].lo), max(x[0].hi, x[1].hi)}, true
	case spec.CondExpr:
		return interval{min(x[1].lo, x[2].lo), max(x[1].hi, x[2].hi)}, true
	case spec.ShlExpr:
		k := shifts(x[1])
		return corners(x[0], interval{1 << k.lo, 1 << k.hi}, product)
	case spec.ShrExpr:
		return corners(x[0], shifts(x[1]), func(a, k int64) (int64, bool) { return a >> k, true })
	case spec.BitAndExpr, spec.BitOrExpr, spec.BitXorExpr:
		return bitwise(e.Kind, x[0], x[1]), true
	case spec.ReverseExpr:
		return interval{0, 1<<shifts(x[1]).hi - 1}, true
	case spec.Log2Expr:
		return interval{0, int64(bits.Len64(uint64(max(1, x[0].hi)))) - 1}, true
	}
	return interval{0, 1}, true // a truth value, or none
}

// atLeast returns the numbers of x from least on, of which a quotient has a value.
func atLeast(least int64, x interval) interval { return interval{max(x.lo, least), max(x.hi, least)} }

// shifts returns the distances of k by which a shift has a value.
func shifts(k interval) interval { return interval{min(max(k.lo, 0), 31), min(max(k.hi, 0), 31)} }

// corners returns where op takes two intervals, for an op that is monotonic in each operand.
func corners(x, y interval, op func(a, b int64) (int64, bool)) (v interval, ok bool) {
	for i, a := range []int64{x.lo, x.hi} {
		for j, b := range []int64{y.lo, y.hi} {
			c, fits := op(a, b)
			if !fits {
				return v, false
			}
			if i+j == 0 {
				v = interval{c, c}
			}
			v = interval{min(v.lo, c), max(v.hi, c)}
		}
	}
	return v, true
}

// product returns a × b, if an int64 holds it. Neither is the smallest int64.
func product(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	return a * b, hi == 0 && lo <= widest
}

// bitwise returns where an and, or, or exclusive or is: in as many bits as its operands, and not negative if they are
// not.
func bitwise(kind spec.ExprKind, x, y interval) interval {
	switch {
	case kind == spec.BitAndExpr && x.lo >= 0:
		return interval{0, x.hi}
	case kind == spec.BitAndExpr && y.lo >= 0:
		return interval{0, y.hi}
	}
	most := max(x.hi, y.hi, -(x.lo + 1), -(y.lo + 1), 0)
	all := int64(1)<<bits.Len64(uint64(most)) - 1
	if x.lo >= 0 && y.lo >= 0 {
		return interval{0, all}
	}
	return interval{-all - 1, all}
}
