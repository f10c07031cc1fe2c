package emit

import (
	"bytes"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// ListName is the name of the file that List prints.
const ListName = "zcollectives.go"

// List prints the file that lists the collectives of a package, for its runtime: the variables that Go declares, one
// for each of primitives.
func List(pkg Package, primitives []spec.Primitive) ([]byte, error) {
	f := &file{pkg}
	out := f.empty()
	var all []jen.Code
	for _, p := range primitives {
		all = append(all, jen.Op("&").Id(f.collective(p)))
	}
	out.Comment("collectives are all of this package, by name.")
	out.Var().Id("collectives").Op("=").Index().Op("*").Add(f.written("Collective")).Values(broken(all)...)
	var buf bytes.Buffer
	err := out.Render(&buf)
	return buf.Bytes(), err
}
