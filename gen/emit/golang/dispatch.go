package golang

import (
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// dispatch prints the method of Call that makes a call of one of primitives, whichever it names.
func (f *file) dispatch(primitives []spec.Primitive) jen.Code {
	var cases []jen.Code
	for _, p := range primitives {
		if !HasFunction(p) {
			continue
		}
		args := []jen.Code{jen.Id("ctx"), jen.Id("c")}
		name, opts := f.untyped(p), jen.Id("opts")
		if len(buffers(p)) == 0 {
			name, opts = p.Name, jen.Id("opts").Op("...")
		} else {
			args = append(args, jen.Id("call").Dot("Type"))
		}
		for _, field := range fields(p) {
			args = append(args, jen.Id("call").Dot(field))
		}
		cases = append(cases, jen.Case(jen.Lit(p.Name)).Block(jen.Return(jen.Id(name).Call(append(args, opts)...))))
	}
	cases = append(cases, jen.Default().Block(jen.Return(jen.Id("call").Dot("pair").Call(jen.Id("ctx"), jen.Id("c"),
		jen.Id("opts")))))
	return jen.Comment("do makes the call on c.").Line().Func().Params(jen.Id("call").Op("*").Id("Call")).Id("do").Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("c").Op("*").Id("Comm"), jen.Id("opts").Index().Id("Option"),
	).Error().Block(jen.Switch(jen.Id("call").Dot("Collective")).Block(cases...))
}

// fields returns the fields of Call that a call of p takes from it, in the order of its function's parameters.
func fields(p spec.Primitive) (names []string) {
	dst, src := sides(p)
	for _, s := range []side{dst, src} {
		if !s.exists() {
			continue
		}
		field := upperFirst(s.name)
		names = append(names, field)
		if p.IsUneven() && s.blocks() != 1 {
			names = append(names, field+"Blocks")
		}
	}
	for _, x := range p.Params {
		names = append(names, upperFirst(string(x)))
	}
	return names
}

func upperFirst(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
