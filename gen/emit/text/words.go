// Package text prints specifications, algorithms and schedules for people.
package text

import (
	"fmt"
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
	case e.Kind == spec.CondExpr && e.WellFormed() && len(e.Args[0].Args) > 0 &&
		e.String() == spec.CeilLog2(e.Args[0].Args[0]).String():
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

// Buffering states how little buffering in channels is enough. With segment, it is what transports promise for messages
// that are received AfterSend; otherwise it is none.
func Buffering(segment bool) string {
	if segment {
		return "even if no channel has room for more than a segment of a message"
	}
	return "even if no channel has room for a message"
}

// Ranges returns ascending numbers as people write them: 1..64, or 1, 2, 4, 8.
func Ranges(numbers []int) string {
	var parts []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[n-1]+1 {
			n++
		}
		if n < 3 {
			n = 1
			parts = append(parts, fmt.Sprint(numbers[0]))
		} else {
			parts = append(parts, fmt.Sprintf("%d..%d", numbers[0], numbers[n-1]))
		}
		numbers = numbers[n:]
	}
	return strings.Join(parts, ", ")
}
