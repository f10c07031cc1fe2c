package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// tables are those that rules has registered, by the primitive's name.
var tables = map[string][]gen.Rule{}

// rules registers the first selection table for p. Each primitive's file calls it, unless any of its algorithms is as
// good as another. The limits were measured, by collperf -tune, with 2 to 16 ranks on the 2 cores of one machine, all
// of them on it. A rule changed where that saved more than a tenth, in medians over rounds.
//
// Where nothing was measured, tables follow what the algorithms cost. For short blocks the fewest steps win, because
// ranks wait for each other in each; with more ranks than cores, the fewest messages in all. For long ones it is the
// fewest bytes in all.
func rules(p spec.Primitive, table ...gen.Rule) []gen.Rule {
	tables[p.Name] = table
	return table
}

// Rules returns the selection table for p among algorithms, which are all for p: this package's, where they are all
// that it mentions; otherwise each serves what those before it do not.
func Rules(p spec.Primitive, algorithms []gen.Algorithm) []gen.Rule {
	_, ok := tables[p.Name]
	table := slices.Concat(predicted[p.Name], tables[p.Name])
	known := gen.Selectable(algorithms)
	for _, r := range table {
		ok = ok && selection.Find(known, r.Algorithm) != nil
	}
	if ok {
		return table
	}
	table = nil
	for _, a := range algorithms {
		table = append(table, gen.Rule{Algorithm: a.Name})
	}
	return table
}
