package golang

import (
	"bytes"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// File prints the file of one primitive: the functions that programs call, the table of its algorithms, and these
// algorithms. Its errors are *Error where an algorithm is at fault.
func File(pkg Package, c Collective) ([]byte, error) {
	f := &file{pkg}
	out := f.empty()
	if HasFunction(c.Primitive) {
		code, err := f.functions(c.Primitive)
		if err != nil {
			return nil, err
		}
		out.Add(separated(code)...)
	}
	table, err := f.table(c)
	if err != nil {
		return nil, err
	}
	out.Add(table)
	for _, members := range families(c.Algorithms) {
		code, err := f.algorithm(members)
		if err != nil {
			return nil, err
		}
		out.Add(separated([]jen.Code{code})...)
	}
	var buf bytes.Buffer
	err = out.Render(&buf)
	return buf.Bytes(), err
}

// families returns algorithms that are members of one declaration together: one function carries them out.
func families(algorithms []Proved) (list [][]Proved) {
	for i := range algorithms {
		a := &algorithms[i]
		if n := len(list) - 1; n >= 0 && a.Param.Value != 0 && list[n][0].Param.Name == a.Param.Name &&
			list[n][0].DeclaredName() == a.DeclaredName() {
			list[n] = append(list[n], *a)
		} else {
			list = append(list, []Proved{*a})
		}
	}
	return list
}

// algorithm prints the function that carries an algorithm out, or all members of one.
func (f *file) algorithm(members []Proved) (jen.Code, error) {
	a := &members[0].Algorithm
	code, err := body(a)
	if err != nil {
		return nil, err
	}
	name, err := f.function(a)
	return jen.Add(comment(algorithmDoc(members, name))).Line().Func().Id(name).Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("x").Op("*").Add(f.written("Call")),
	).Error().Block(code...), err
}

// ReservedNames returns the names that p's generated code cannot do without in its package: the functions that programs
// call, and imports.
func ReservedNames(p spec.Primitive) []string {
	names := []string{"bits", "context", "fast", "collective"}
	if HasFunction(p) {
		names = append(names, p.Name, startName(p.Name))
		if _, ok := inPlace(p); ok {
			names = append(names, p.Name+"Into", startName(p.Name+"Into"))
		}
	}
	return names
}

// ListFile is the name of the file that List prints.
const ListFile = "zcollectives.go"

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
	out.Line().Add(f.dispatch(primitives))
	var buf bytes.Buffer
	err := out.Render(&buf)
	return buf.Bytes(), err
}
