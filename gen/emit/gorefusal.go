package emit

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
