package gen

import (
	"slices"
	"strings"
)

var catalogue []Algorithm

// register adds a to the catalogue. Each algorithm's file calls it, so that adding an algorithm touches one file.
func register(a Algorithm) Algorithm {
	catalogue = append(catalogue, a)
	return a
}

// Catalogue is all algorithms of this package, by full name.
func Catalogue() []Algorithm {
	return slices.SortedFunc(slices.Values(catalogue), func(a, b Algorithm) int {
		return strings.Compare(a.FullName(), b.FullName())
	})
}
