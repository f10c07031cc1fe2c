package golang

import (
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// dispatch prints the function that makes a call of one of primitives, whichever is named.
func (f *file) dispatch(primitives []spec.Primitive) jen.Code {
	var cases []jen.Code
	for _, p := range primitives {
		if !HasFunction(p) {
			continue
		}
		name, opts := f.untyped(p), jen.Id("opts")
		args := []jen.Code{jen.Id("ctx"), jen.Id("c"), jen.Id("t")}
		if len(buffers(p)) == 0 {
			name, opts, args = p.Name, jen.Id("opts").Op("..."), args[:2]
		}
		args = append(append(args, untypedParams(p)...), opts)
		cases = append(cases, jen.Case(jen.Lit(p.Name)).Block(jen.Return(jen.True(), jen.Id(name).Call(args...))))
	}
	return jen.Comment("doNamed makes the call of that name on c, and reports whether there is one.").Line().
		Func().Id("doNamed").Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("c").Op("*").Id("Comm"),
		jen.Id("name").String(), jen.Id("t").Qual(specPath, "Type"), jen.List(jen.Id("dst"), jen.Id("src")).Index().Byte(),
		jen.List(jen.Id("dstBlocks"), jen.Id("srcBlocks")).Id("Blocks"), jen.Id("op").Id("Op"), jen.Id("root").Int(),
		jen.Id("opts").Index().Id("Option"),
	).Params(jen.Id("is").Bool(), jen.Err().Error()).Block(
		jen.Switch(jen.Id("name")).Block(cases...), jen.Return(jen.False(), jen.Nil()))
}

// untypedParams returns the parameters of doNamed that the function of p with buffers of bytes has, in its order.
func untypedParams(p spec.Primitive) (names []jen.Code) {
	dst, src := sides(p)
	for _, s := range []side{dst, src} {
		if !s.exists() {
			continue
		}
		names = append(names, jen.Id(s.name))
		if p.IsUneven() && s.blocks() != 1 {
			names = append(names, jen.Id(s.name+"Blocks"))
		}
	}
	for _, x := range p.Params {
		names = append(names, jen.Id(string(x)))
	}
	return names
}
