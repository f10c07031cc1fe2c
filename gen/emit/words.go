package emit

import (
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Requirements says which calls an algorithm can serve; it is empty for those that serve all.
func Requirements(r gen.Requires) string {
	var needs []string
	if !r.Size.IsAbsent() {
		needs = append(needs, "sizes with "+Formula(r.Size))
	}
	if r.Commutative {
		needs = append(needs, "a commutative op")
	}
	if r.OutOfPlace {
		needs = append(needs, "in and out in distinct memory")
	}
	return strings.Join(needs, "; ")
}

// Cost is an algorithm's cost in formulas: messages, chunks sent and chunks reduced on the critical path, empty where
// they are not declared, and how many chunks there are in a block.
type Cost struct{ Alpha, Beta, Gamma, Chunks string }

// CostOf returns the cost that a declares.
func CostOf(a *gen.Algorithm) Cost {
	return Cost{Formula(a.Cost.Alpha), Formula(a.Cost.Beta), Formula(a.Cost.Gamma), Formula(a.Chunks.OrElse(spec.Int(1)))}
}

// Formula returns e as people write it; empty if e is absent.
func Formula(e spec.Expr) string {
	if e.IsAbsent() {
		return ""
	}
	return logarithms(e).String()
}

// logarithms returns e with its logarithms as names.
func logarithms(e spec.Expr) spec.Expr {
	switch {
	case e.Kind == spec.CondExpr && e.WellFormed() && len(e.Args[0].Args) > 0 && same(e, spec.CeilLog2(e.Args[0].Args[0])):
		return spec.Var("⌈log2(" + Formula(e.Args[0].Args[0]) + ")⌉")
	case e.Kind == spec.Log2Expr && e.WellFormed():
		return spec.Var("⌊log2(" + Formula(e.Args[0]) + ")⌋")
	}
	args := make([]spec.Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = logarithms(arg)
	}
	e.Args = args
	return e
}
