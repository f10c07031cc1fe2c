package golang

import (
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// In the runtime, the function of a primitive hands its buffers over as bytes, with the type of their elements, to one
// that is not generic. So a call whose type is known only when the program runs goes the same way (dispatch.go), and
// the checks are compiled once. In other packages, the generic function makes the checks.

const specPath = "github.com/collgen/collgen/spec"

// untyped returns the name of the function of p whose buffers are bytes.
func (f *file) untyped(p spec.Primitive) string { return f.collective(p) + "Bytes" }

func lenOf(name string) *jen.Statement { return jen.Len(jen.Id(name)) }

// elements prints how many elements a buffer of the function that makes the call has.
func (f *file) elements(buffer string) *jen.Statement {
	if f.isRuntime() {
		return f.written("Elements").Call(jen.Id("t"), jen.Id(buffer))
	}
	return lenOf(buffer)
}

// handOver prints the call of p by the runtime. Blocks is nil of a primitive whose blocks are equally long.
func (f *file) handOver(p spec.Primitive, dst, src, blocks, args jen.Code) *jen.Statement {
	collective := jen.Op("&").Id(f.collective(p))
	start := []jen.Code{jen.Id("ctx"), jen.Id("c"), collective}
	none := len(buffers(p)) == 0
	switch {
	case f.isRuntime():
		t := jen.Id("t")
		if none {
			t = jen.Qual(specPath, "TypeUint8")
		}
		return jen.Id("c").Dot("doGenerated").Call(jen.Id("ctx"), collective, t, args, dst, src, blocks, jen.Id("opts"))
	case p.IsUneven():
		return f.calls("DoUneven").Call(append(start, dst, src, blocks, args, jen.Id("opts"))...)
	case none:
		return f.calls("Do").Types(jen.Uint8()).Call(append(start, dst, src, args, jen.Id("opts"))...)
	}
	return f.calls("Do").Call(append(start, dst, src, args, jen.Id("opts"))...)
}
