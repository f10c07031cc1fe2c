package gen

import (
	"slices"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Rule is a line of a selection table: which algorithm a call gets. The first rule counts that matches the call and
// whose algorithm serves it.
type Rule = selection.Rule

const (
	kib = 1 << 10
	mib = 1 << 20
)

// tables are those that rules has noted, by the primitive's name.
var tables = map[string][]Rule{}

// rules notes the first selection table for p. Each primitive's file calls it, unless any of its algorithms is as good as
// another. The limits were measured, by collperf -tune, with 2 to 16 ranks on the 2 cores of one machine, all of
// them on it. A rule changed where that saved more than a tenth, in medians over rounds.
//
// Where nothing was measured, tables follow what the algorithms cost. For short blocks the fewest steps win, because
// ranks wait for each other in each; with more ranks than cores, the fewest messages in all. For long ones it is the
// fewest bytes in all.
func rules(p spec.Primitive, table ...Rule) []Rule {
	tables[p.Name] = table
	return table
}

// Rules is the selection table for p among algorithms, which are all for p: this package's, where they are all that it
// speaks of; otherwise each serves what those before it do not.
func Rules(p spec.Primitive, algorithms []Algorithm) []Rule {
	_, ok := tables[p.Name]
	table := slices.Concat(predicted[p.Name], tables[p.Name])
	known := Selectable(algorithms)
	for _, r := range table {
		ok = ok && selection.Find(known, r.Algorithm) != nil
	}
	if ok {
		return table
	}
	table = nil
	for _, a := range algorithms {
		table = append(table, Rule{Algorithm: a.Name})
	}
	return table
}

// Select is the index of the rule that a call gets; -1 if there is none.
func Select(table []Rule, algorithms []Algorithm, c selection.Call, bytes int) int {
	return selection.Select(table, Selectable(algorithms), c, bytes)
}

// CheckRules proves that table, of algorithms for one primitive, is legal and total, as [selection.Check] says, for ops.
func CheckRules(table []Rule, algorithms []Algorithm, ops []spec.Op) error {
	others := slices.ContainsFunc(ops, func(o spec.Op) bool { return !o.Commutative() })
	return selection.Check(table, Selectable(algorithms), others)
}

// Selectable is what a selection has to know of algorithms.
func Selectable(algorithms []Algorithm) []selection.Algorithm {
	list := make([]selection.Algorithm, len(algorithms))
	for i := range algorithms {
		a := &algorithms[i]
		list[i] = selection.Algorithm{Name: a.Name, Commutative: a.Requires.Commutative, Pipelined: a.HasDepth()}
		if !a.Requires.Size.IsAbsent() {
			list[i].Serves = a.Serves
		}
	}
	return list
}
