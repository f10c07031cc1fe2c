package golang

import (
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// refusals returns the checks of what p refuses.
func (f *file) refusals(p spec.Primitive, s *scope) ([]jen.Code, error) {
	var code []jen.Code
	for _, e := range p.Errors {
		when, err := s.truth(e.When)
		if err != nil {
			return nil, err
		}
		code = append(code, jen.If(when).Block(f.refuse(p, refusalFormat(e), refusalValues(e)...)))
	}
	return code, nil
}

// refusalFormat says what is wrong, with the values that it depends on.
func refusalFormat(e spec.ArgError) string {
	if x, ok := notARank(e.When); ok {
		return x + " is %d, want a rank of %d"
	}
	format := strings.ReplaceAll(e.Reason, "%", "%%")
	values := strings.Join(distinct(e.When), " is %d, ")
	if values == "" {
		return format
	}
	return format + ": " + values + " is %d"
}

// refusalValues returns the values for refusalFormat.
func refusalValues(e spec.ArgError) (values []jen.Code) {
	for _, name := range distinct(e.When) {
		values = append(values, jen.Id(name))
	}
	return values
}

// notARank reports whether e says of a parameter, and of which, that it is no rank.
func notARank(e spec.Expr) (name string, ok bool) {
	for _, x := range []spec.Expr{spec.Root, spec.Peer} {
		if same(e, spec.Or(spec.Lt(x, spec.Int(0)), spec.Ge(x, spec.Size))) {
			return x.Name, true
		}
	}
	return "", false
}

// distinct returns the variables of e, each once, by name: size comes last.
func distinct(e spec.Expr) []string {
	names := variables(e)
	slices.Sort(names)
	return slices.Compact(names)
}

// refuse returns an argument error.
func (f *file) refuse(p spec.Primitive, format string, args ...jen.Code) jen.Code {
	return jen.Return(f.calls("Refuse").Call(append([]jen.Code{jen.Lit(p.Name), jen.Lit(format)}, args...)...))
}

// The functions that programs call. What they check and count follows from the shapes of the primitive's buffers.

var count = spec.Var("count")

// times returns n × x, as short as it can be.
func times(n, x spec.Expr) spec.Expr {
	if same(n, spec.Int(1)) {
		return x
	}
	return spec.Mul(n, x)
}

// lengths finds the number of elements per block and checks that both buffers have the right length. A buffer that a
// rank does not pass is ignored.
func (f *file) lengths(p spec.Primitive, s *scope) ([]jen.Code, error) {
	of, err := measure(p)
	if err != nil {
		return nil, err
	}
	code, err := f.count(p, s, of, f.elements)
	if err != nil {
		return nil, err
	}
	dst, src := sides(p)
	for _, other := range []side{dst, src} {
		if !other.exists() || other.name == of.name {
			continue
		}
		check, err := f.checkLength(p, s, other)
		if err != nil {
			return nil, err
		}
		code = append(code, check)
	}
	return code, nil
}

// count finds the number of elements per block from one buffer, whose number of elements is given by length.
func (f *file) count(p spec.Primitive, s *scope, of side, length func(name string) *jen.Statement) ([]jen.Code, error) {
	if of.blocks() == 1 {
		return []jen.Code{jen.Id("count").Op(":=").Add(length(of.name))}, nil
	}
	blocks, err := s.number(of.Blocks)
	if err != nil {
		return nil, err
	}
	whole, err := s.number(spec.Mul(of.Blocks, count))
	if err != nil {
		return nil, err
	}
	return []jen.Code{
		jen.Id("count").Op(":=").Add(length(of.name)).Op("/").Add(blocks),
		jen.If(length(of.name).Op("!=").Add(whole)).Block(
			f.refuse(p, "len("+of.name+") is %d, not a multiple of %d", length(of.name), blocks)),
	}, nil
}

func (f *file) checkLength(p spec.Primitive, s *scope, other side) (jen.Code, error) {
	want, err := s.number(times(other.Blocks, count))
	if err != nil {
		return nil, err
	}
	check := jen.If(f.elements(other.name).Op("!=").Add(want)).Block(
		f.refuse(p, "len("+other.name+") is %d, want %d", f.elements(other.name), want))
	if other.On.IsAbsent() {
		return check, nil
	}
	elsewhere, err := s.truth(spec.Not(other.On))
	return jen.If(elsewhere).Block(
		jen.Id(other.name).Op("=").Nil().Commentf("it counts only where %v", other.On),
	).Else().Add(check), err
}
