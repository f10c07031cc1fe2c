package golang

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// table prints the variable that lists the algorithms of a primitive.
func (f *file) table(c Collective) (jen.Code, error) {
	algorithms := make([]jen.Code, len(c.Algorithms))
	for i, a := range c.Algorithms {
		line, err := f.line(a)
		if err != nil {
			return nil, err
		}
		algorithms[i] = line
	}
	fields := []jen.Code{
		jen.Id("Name").Op(":").Lit(c.Primitive.Name),
		jen.Id("Hash").Op(":").Op(SpecHash(c.Primitive)),
	}
	if slices.Contains(c.Primitive.Params, spec.ParamOp) {
		fields = append(fields, jen.Id("Reduces").Op(":").True())
	}
	if slices.Contains(c.Primitive.Params, spec.ParamPeer) {
		fields = append(fields, jen.Id("PointToPoint").Op(":").True())
	}
	if c.Primitive.IsUneven() {
		fields = append(fields, jen.Id("Uneven").Op(":").True())
		if c.Primitive.SameCounts() {
			fields = append(fields, jen.Id("SameCounts").Op(":").True())
		}
	}
	if needs := needsOf(c.Primitive); needs != "" {
		fields = append(fields, jen.Id("Needs").Op(":").Add(f.written(needs)))
	}
	fields = append(fields, jen.Id("Algorithms").Op(":").Index().Add(f.written("Algorithm")).Values(broken(algorithms)...))
	if len(c.Rules) > 0 {
		fields = append(fields, jen.Id("Rules").Op(":").Index().Add(f.fast("Rule")).Values(broken(rules(c.Rules))...))
	}
	return jen.Var().Id(f.collective(c.Primitive)).Op("=").Add(f.written("Collective")).Values(broken(fields)...), nil
}

// broken puts each element of a literal on its own line.
func broken(elements []jen.Code) []jen.Code {
	var lines []jen.Code
	for _, e := range elements {
		lines = append(lines, jen.Line().Add(e))
	}
	return append(lines, jen.Line())
}

// rules prints a selection table, without the conditions that always hold.
func rules(list []gen.Rule) []jen.Code {
	lines := make([]jen.Code, len(list))
	for i, r := range list {
		var fields []jen.Code
		if r.Transport != "" {
			fields = append(fields, jen.Id("Transport").Op(":").Lit(r.Transport))
		}
		fields = append(fields, jen.Id("Algorithm").Op(":").Lit(r.Algorithm))
		for _, x := range []struct {
			name  string
			value int
		}{{"MinSize", r.MinSize}, {"MaxSize", r.MaxSize}, {"MaxPerHost", r.MaxPerHost}, {"MaxBytes", r.MaxBytes},
			{"PieceBytes", r.PieceBytes}} {
			if x.value > 0 {
				fields = append(fields, jen.Id(x.name).Op(":").Lit(x.value))
			}
		}
		if r.Predicted {
			fields = append(fields, jen.Id("Predicted").Op(":").True())
		}
		lines[i] = jen.Values(fields...)
	}
	return lines
}

// line prints an algorithm's line in the table.
func (f *file) line(a Proved) (jen.Code, error) {
	name, err := f.function(&a.Algorithm)
	if err != nil {
		return nil, err
	}
	fields := []jen.Code{jen.Id("Name").Op(":").Lit(a.Name), jen.Id("Hash").Op(":").Op(shortHash(a.Hash[:]))}
	if a.Requires.Commutative {
		fields = append(fields, jen.Id("Commutative").Op(":").True())
	}
	if a.Requires.OutOfPlace {
		fields = append(fields, jen.Id("OutOfPlace").Op(":").True())
	}
	if a.ReducesAtOnce() {
		fields = append(fields, jen.Id("AtOnce").Op(":").True())
	}
	if a.HasDepth() {
		fields = append(fields, jen.Id("Pipelined").Op(":").True())
	}
	if a.HasLocal() {
		fields = append(fields, jen.Id("Local").Op(":").True())
	}
	if a.Param.Value != 0 {
		fields = append(fields, jen.Id("Param").Op(":").Lit(a.Param.Value))
	}
	if !a.Requires.Size.IsAbsent() {
		s := newScope(nil)
		s.vars[spec.Size.Name], s.vars[spec.Local.Name] = natural, natural
		holds, err := s.truth(a.Requires.Size)
		if err != nil {
			return nil, located(&a.Algorithm, err)
		}
		local := "_"
		if slices.Contains(variables(a.Requires.Size), spec.Local.Name) {
			local = spec.Local.Name
		}
		serves := jen.Func().Params(jen.List(jen.Id(spec.Size.Name), jen.Id(local)).Int()).Bool().Custom(oneLine,
			jen.Return(holds))
		fields = append(fields, jen.Id("Serves").Op(":").Add(serves))
	}
	fields = append(fields, jen.Id("Proved").Op(":").Add(f.proved(a)))
	return jen.Values(append(fields, jen.Id("Run").Op(":").Id(name))...), nil
}

// proved prints for which calls a was proved.
func (f *file) proved(a Proved) jen.Code {
	sizes, depths := a.Proof.UpTo()
	fields := []jen.Code{jen.Id("Sizes").Op(":").Lit(sizes)}
	if depths > 0 {
		fields = append(fields, jen.Id("Depths").Op(":").Lit(depths))
	}
	if a.Proof.Every.Sizes != "" {
		fields = append(fields, jen.Id("Every").Op(":").True())
	}
	return f.written("Proved").Values(fields...)
}
