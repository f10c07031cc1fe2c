package spec

import (
	"slices"
	"strings"
)

var primitives []Primitive // by name

// register adds p to the catalogue. Each primitive's file calls it, so that adding a primitive touches one file.
func register(p Primitive) Primitive {
	i, _ := slices.BinarySearchFunc(primitives, p.Name, func(q Primitive, name string) int {
		return strings.Compare(q.Name,
			name)
	})
	primitives = slices.Insert(primitives, i, p)
	return p
}

// Primitives returns all primitives of this package, by name.
func Primitives() []Primitive { return slices.Clone(primitives) }
