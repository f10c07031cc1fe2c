// Package catalogue has the algorithms of this module, with their loop invariants, what no algorithm can go below, and
// the tables by which one is chosen for a call.
package catalogue

import (
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
)

var all []gen.Algorithm // by full name

// register adds a to the catalogue, or its members. Each algorithm's file calls it, so that adding an algorithm touches
// one file.
func register(a gen.Algorithm) gen.Algorithm {
	for _, m := range a.Members() {
		i, _ := slices.BinarySearchFunc(all, m.FullName(), func(b gen.Algorithm, name string) int {
			return strings.Compare(b.FullName(), name)
		})
		all = slices.Insert(all, i, m)
	}
	return a
}

// Algorithms returns all algorithms of this package, by full name.
func Algorithms() []gen.Algorithm { return slices.Clone(all) }
