package emit

import (
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// lengths finds the number of elements per block and checks that both buffers have the right length. A buffer that a
// rank does not pass is ignored.
func (f *file) lengths(p spec.Primitive, s *scope) ([]jen.Code, error) {
	of, err := measure(p)
	if err != nil {
		return nil, err
	}
	code, err := f.count(p, s, of)
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

// count finds the number of elements per block from one buffer.
func (f *file) count(p spec.Primitive, s *scope, of side) ([]jen.Code, error) {
	if of.blocks() == 1 {
		return []jen.Code{jen.Id("count").Op(":=").Add(lenOf(of.name))}, nil
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
		jen.Id("count").Op(":=").Add(lenOf(of.name)).Op("/").Add(blocks),
		jen.If(lenOf(of.name).Op("!=").Add(whole)).Block(
			f.refuse(p, "len("+of.name+") is %d, not a multiple of %d", lenOf(of.name), blocks)),
	}, nil
}

func (f *file) checkLength(p spec.Primitive, s *scope, other side) (jen.Code, error) {
	want, err := s.number(times(other.Blocks, count))
	if err != nil {
		return nil, err
	}
	check := jen.If(lenOf(other.name).Op("!=").Add(want)).Block(
		f.refuse(p, "len("+other.name+") is %d, want %d", lenOf(other.name), want))
	if other.On.IsAbsent() {
		return check, nil
	}
	elsewhere, err := s.truth(spec.Not(other.On))
	return jen.If(elsewhere).Block(
		jen.Id(other.name).Op("=").Nil().Commentf("it counts only where %v", other.On),
	).Else().Add(check), err
}
