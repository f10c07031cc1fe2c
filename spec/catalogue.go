package spec

import (
	"slices"
	"strings"
)

var primitives []Primitive

// register adds p to the catalogue. Each primitive's file calls it, so that adding a primitive touches one file.
func register(p Primitive) Primitive {
	primitives = append(primitives, p)
	return p
}

// Primitives returns all primitives of this package, by name.
func Primitives() []Primitive {
	return slices.SortedFunc(slices.Values(primitives), func(a, b Primitive) int { return strings.Compare(a.Name, b.Name) })
}
