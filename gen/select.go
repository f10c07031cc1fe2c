package gen

import (
	"slices"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Rule is a line of a selection table: which algorithm a call gets. The first rule counts that matches the call and
// whose algorithm serves it.
type Rule = selection.Rule

// Select returns the index of the rule that a call gets; -1 if there is none.
func Select(table []Rule, algorithms []Algorithm, c selection.Call, bytes int) int {
	return selection.Select(table, Selectable(algorithms), c, bytes)
}

// CheckRules proves that table, of algorithms for one primitive, is legal and total, as [selection.Check] says, for
// ops.
func CheckRules(table []Rule, algorithms []Algorithm, ops []spec.Op) error {
	others := slices.ContainsFunc(ops, func(o spec.Op) bool { return !o.Commutative() })
	return selection.Check(table, Selectable(algorithms), others)
}

// Selectable returns what a selection has to know of algorithms.
func Selectable(algorithms []Algorithm) []selection.Algorithm {
	list := make([]selection.Algorithm, len(algorithms))
	for i := range algorithms {
		a := &algorithms[i]
		list[i] = selection.Algorithm{Name: a.Name, Commutative: a.Requires.Commutative, Pipelined: a.HasDepth(),
			Local:  a.HasLocal(),
			AtOnce: a.ReducesAtOnce()}
		if !a.Requires.Size.IsAbsent() {
			list[i].Serves = a.Serves
		}
	}
	return list
}
