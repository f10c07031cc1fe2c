package golang

import (
	"slices"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// HasFunction reports whether programs call p by a generated function. The two ends of a point-to-point primitive are
// functions of their own, which are not derived from it.
func HasFunction(p spec.Primitive) bool { return !slices.Contains(p.Params, spec.ParamPeer) }

// functions prints the functions of p: one with a buffer for each of in and out and, where it can be, one in place; and
// for each of these one that starts it.
func (f *file) functions(p spec.Primitive) ([]jen.Code, error) {
	if p.IsUneven() {
		return f.unevenFunctions(p)
	}
	name := p.Name
	share, ok := inPlace(p)
	var code []jen.Code
	if ok {
		name += "Into"
		body, err := f.inPlaceBody(p, share)
		if err != nil {
			return nil, err
		}
		inPlace := function{p, p.Name, []buffer{{name: "buf"}}}
		code = append(code, f.declare(inPlace, inPlaceDoc(p, share), body), f.start(inPlace))
	}
	body, err := f.intoBody(p)
	if err != nil {
		return nil, err
	}
	var both []buffer
	for _, b := range buffers(p) {
		both = append(both, buffer{name: b})
	}
	into := function{p, name, both}
	return append(code, append(f.declareInto(into, functionDoc(p, name), body), f.start(into))...), nil
}

// function is a function that programs call.
type function struct {
	spec.Primitive
	name    string
	buffers []buffer
}

// buffer is a parameter for a buffer, and the one beside it for its uneven blocks, if it has one.
type buffer struct{ name, blocks string }

// declare prints a function.
func (f *file) declare(x function, doc string, body []jen.Code) jen.Code {
	return f.head(x, x.name, doc).Error().Block(body...)
}

// declareInto prints the function that passes both buffers, with the body that makes the call, and what that needs.
func (f *file) declareInto(x function, doc string, body []jen.Code) []jen.Code {
	if !f.isRuntime() || len(x.buffers) == 0 {
		return []jen.Code{f.declare(x, doc, body)}
	}
	args := []jen.Code{jen.Id("ctx"), jen.Id("c"), jen.Qual(specPath, "TypeOf").Types(jen.Id("T")).Call()}
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id("c").Op("*").Id("Comm"),
		jen.Id("t").Qual(specPath, "Type")}
	for _, b := range x.buffers {
		args = append(args, f.written("Bytes").Call(jen.Id(b.name)))
		params = append(params, jen.Id(b.name).Index().Byte())
		if b.blocks != "" {
			args = append(args, jen.Id(b.blocks))
			params = append(params, jen.Id(b.blocks).Id("Blocks"))
		}
	}
	for _, p := range x.Params {
		args = append(args, jen.Id(string(p)))
		params = append(params, f.param(p))
	}
	name := f.untyped(x.Primitive)
	call := jen.Return(jen.Id(name).Call(append(args, jen.Id("opts"))...))
	return []jen.Code{
		f.declare(x, doc, []jen.Code{call}),
		jen.Commentf("%s is [%s] of elements of type t.", name, x.name).Line().Func().Id(name).Params(
			append(params, jen.Id("opts").Index().Id("Option"))...).Error().Block(body...),
	}
}

// start prints the function that starts another one.
func (f *file) start(x function) jen.Code {
	name := startName(x.name)
	var buffers []jen.Code
	for _, b := range x.buffers {
		buffers = append(buffers, jen.Id(b.name))
		if b.blocks != "" {
			buffers = append(buffers, jen.Id(b.blocks))
		}
	}
	call := jen.Func().Params(jen.Id("opts").Index().Add(f.fast("Option"))).Error().
		Custom(oneLine, arguments(x.Primitive, x.name, buffers...))
	return f.head(x, name, name+" starts ["+x.name+"].").Op("*").Add(f.fast("Handle")).Block(
		jen.Return(f.calls("Start").Call(jen.Id("opts"), call)))
}

func startName(name string) string { return "Start" + name }

// head prints a function up to its parameters, which are those of x.
func (f *file) head(x function, name, doc string) *jen.Statement {
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id("c").Op("*").Add(f.fast("Comm"))}
	head := jen.Add(comment(doc)).Line().Func().Id(name)
	if len(x.buffers) > 0 {
		head.Types(jen.Id("T").Add(f.fast("Elem")))
		params = append(params, f.bufferParams(x.buffers)...)
	}
	for _, p := range x.Params {
		params = append(params, f.param(p))
	}
	return head.Params(append(params, jen.Id("opts").Op("...").Add(f.fast("Option")))...)
}

// param prints the parameter p.
func (f *file) param(p spec.Param) jen.Code {
	if p == spec.ParamOp {
		return jen.Id("op").Add(f.fast("Op"))
	}
	return jen.Id(string(p)).Int()
}

// bufferParams prints the parameters for buffers: those of equal blocks as one list.
func (f *file) bufferParams(buffers []buffer) (params []jen.Code) {
	var names []jen.Code
	for i, b := range buffers {
		names = append(names, jen.Id(b.name))
		if b.blocks != "" || i == len(buffers)-1 {
			params = append(params, jen.List(names...).Index().Id("T"))
			names = nil
		}
		if b.blocks != "" {
			params = append(params, jen.Id(b.blocks).Add(f.fast("Blocks")))
		}
	}
	return params
}

// arguments passes a call of p on to the function name, with these buffers.
func arguments(p spec.Primitive, name string, buffers ...jen.Code) jen.Code {
	args := append([]jen.Code{jen.Id("ctx"), jen.Id("c")}, buffers...)
	for _, x := range p.Params {
		args = append(args, jen.Id(string(x)))
	}
	return jen.Return(jen.Id(name).Call(append(args, jen.Id("opts").Op("..."))...))
}

// callScope returns the scope of a function that programs call, in which the variables used have their values.
func callScope(p spec.Primitive, used []string) (*scope, []jen.Code) {
	s := newScope(nil)
	s.vars[count.Name] = natural
	for _, x := range p.Params {
		s.vars[string(x)] = number
	}
	used = slices.DeleteFunc(used, func(name string) bool { return name != spec.Rank.Name && name != spec.Size.Name })
	return s, locals(s, parameters, used, func(field string) jen.Code { return jen.Id("c").Dot(field).Call() })
}

// intoBody checks the arguments and hands the call over to the runtime.
func (f *file) intoBody(p spec.Primitive) ([]jen.Code, error) {
	dst, src := sides(p)
	used := variables(p.InPlace.InBlock, p.InPlace.OutBlock, dst.Blocks, src.Blocks, dst.On, src.On)
	for _, e := range p.Errors {
		used = append(used, variables(e.When)...)
	}
	s, code := callScope(p, used)
	refusals, err := f.refusals(p, s)
	if err != nil {
		return nil, err
	}
	code = append(code, refusals...)
	if dst.exists() || src.exists() {
		lengths, err := f.lengths(p, s)
		if err != nil {
			return nil, err
		}
		code = append(code, lengths...)
	}
	fields, err := f.args(p, s)
	if err != nil {
		return nil, err
	}
	return append(code, jen.Return(f.handOver(p, orNil(dst), orNil(src), jen.Nil(), fields))), nil
}

func orNil(s side) jen.Code {
	if s.exists() {
		return jen.Id(s.name)
	}
	return jen.Nil()
}

// args prints the arguments other than the buffers.
func (f *file) args(p spec.Primitive, s *scope) (jen.Code, error) {
	dst, src := sides(p)
	var fields []jen.Code
	field := func(name string, value jen.Code) { fields = append(fields, jen.Id(name).Op(":").Add(value)) }
	if (dst.exists() || src.exists()) && !p.IsUneven() {
		field("Count", jen.Id("count"))
	}
	for _, x := range []struct {
		param spec.Param
		field string
	}{{spec.ParamOp, "Op"}, {spec.ParamRoot, "Root"}, {spec.ParamPeer, "Peer"}} {
		if slices.Contains(p.Params, x.param) {
			field(x.field, jen.Id(string(x.param)))
		}
	}
	if dst.exists() && src.exists() && p.InPlace.InBlock.IsAbsent() {
		field("NoAlias", jen.True())
	}
	aliases, err := s.aliases(p)
	return jen.Op("&").Add(f.written("Args")).Values(append(fields, aliases...)...), err
}

// aliases print the elements of in and out that are the same in place; of uneven blocks, the blocks.
func (s *scope) aliases(p spec.Primitive) ([]jen.Code, error) {
	var fields []jen.Code
	for _, alias := range []struct {
		field string
		block spec.Expr
	}{{"AliasIn", p.InPlace.InBlock}, {"AliasOut", p.InPlace.OutBlock}} {
		if alias.block.IsAbsent() || same(alias.block, spec.Int(0)) {
			continue
		}
		at := times(alias.block, count)
		if p.IsUneven() {
			at = alias.block
		}
		value, err := s.number(at)
		if err != nil {
			return nil, err
		}
		fields = append(fields, jen.Id(alias.field).Op(":").Add(value))
	}
	return fields, nil
}

// inPlaceBody hands one buffer over as both.
func (f *file) inPlaceBody(p spec.Primitive, share sharing) ([]jen.Code, error) {
	buf := jen.Id("buf")
	if share.equal {
		return []jen.Code{arguments(p, p.Name+"Into", buf, buf)}, nil
	}
	s, code := callScope(p, variables(share.whole.Blocks, share.whole.On, share.part.On, share.at))
	elsewhere, err := share.elsewhere(p, s)
	if err != nil {
		return nil, err
	}
	code = append(code, elsewhere...)
	whole := share.whole
	whole.name = "buf"
	length, err := f.count(p, s, whole, lenOf)
	if err != nil {
		return nil, err
	}
	at, err := s.number(times(share.at, count))
	if err != nil {
		return nil, err
	}
	n, err := s.number(times(share.part.Blocks, count))
	if err != nil {
		return nil, err
	}
	part := jen.Id("buf").Index(jen.Add(at).Op(":")).Index(jen.Op(":").Add(n))
	return append(append(code, length...), share.pass(p, share.part.name, part, buf)), nil
}

// elsewhere hands buf over as the one buffer of the ranks that pass no other.
func (share sharing) elsewhere(p spec.Primitive, s *scope) ([]jen.Code, error) {
	var code []jen.Code
	for _, only := range []side{share.whole, share.part} {
		if only.On.IsAbsent() {
			continue
		}
		when, err := s.truth(spec.Not(only.On))
		if err != nil {
			return nil, err
		}
		code = append(code, jen.If(when).Block(share.pass(p, only.name, jen.Nil(), jen.Id("buf"))))
	}
	return code, nil
}

// pass hands the buffer called name over as is, and the other one as other.
func (share sharing) pass(p spec.Primitive, name string, is, other jen.Code) jen.Code {
	if name == "dst" {
		return arguments(p, p.Name+"Into", is, other)
	}
	return arguments(p, p.Name+"Into", other, is)
}
