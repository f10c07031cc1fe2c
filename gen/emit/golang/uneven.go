package golang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// The functions of primitives whose blocks are uneven. Beside a buffer with a block of each rank, they take its Blocks;
// the length of a buffer that is a single block says how long this is.

// uneven is a primitive of uneven blocks, as its function has it.
type uneven struct {
	spec.Primitive
	dst, src       side
	ownDst, ownSrc spec.Expr // blocks of dst and src that are equally long; absent: there are none
}

// errUneven says of what uneven blocks no Go is generated.
var errUneven = errors.New("no Go is generated of such uneven blocks")

// unevenOf returns what is generated for p.
func unevenOf(p spec.Primitive) (uneven, error) {
	dst, src := sides(p)
	u := uneven{Primitive: p, dst: dst, src: src}
	for _, s := range []side{dst, src} {
		if s.blocks() != 1 && !same(s.Blocks, spec.Size) || len(s.Counts) != p.Arity() {
			return u, fmt.Errorf("%w: %s of %s has %v blocks, as long as %v", errUneven, s.name, p.Name, s.Blocks, s.Counts)
		}
		for _, e := range s.Counts {
			if !same(e, spec.Rank) && (!same(e, spec.Block) || s.blocks() == 1) {
				return u, fmt.Errorf("%w: blocks of %s of %s are as long as %v", errUneven, s.name, p.Name, s.Counts)
			}
		}
	}
	u.ownDst, u.ownSrc = u.own(dst, src), u.own(src, dst)
	if u.ownDst.IsAbsent() || u.ownSrc.IsAbsent() {
		return u, fmt.Errorf("%w: no block of src of %s is known to be as long as one of dst", errUneven, p.Name)
	}
	return u, nil
}

// own returns the block of s that is as long as one of other on the same rank; absent if there is none.
func (u uneven) own(s, other side) spec.Expr {
	if s.blocks() == 1 {
		return spec.Int(0)
	}
	for i, e := range s.Counts {
		if same(e, spec.Block) && same(other.Counts[i], spec.Block) && other.blocks() != 1 {
			return spec.Expr{}
		}
	}
	return spec.Rank
}

// many returns the buffers with a block of each rank.
func (u uneven) many() []side {
	return slices.DeleteFunc([]side{u.dst, u.src}, func(s side) bool { return s.blocks() == 1 })
}

// of returns the name of the parameter that says how long the blocks of s are; empty if s is a single block.
func (u uneven) of(s side) string {
	switch {
	case s.blocks() == 1:
		return ""
	case len(u.many()) == 1:
		return "blocks"
	}
	return s.name + "Blocks"
}

// unevenFunctions prints the functions of p.
func (f *file) unevenFunctions(p spec.Primitive) ([]jen.Code, error) {
	u, err := unevenOf(p)
	if err != nil {
		return nil, err
	}
	var code []jen.Code
	into := u.function(p.Name)
	if share, ok := inPlace(p); ok {
		into.name += "Into"
		inPlace := function{p, p.Name, []buffer{{"buf", "blocks"}}}
		code = append(code, f.declare(inPlace, inPlaceDoc(p, share), f.unevenInPlace(u, share)), f.start(inPlace))
	}
	body, err := f.unevenInto(u)
	return append(code, append(f.declareInto(into, functionDoc(p, into.name), body), f.start(into))...), err
}

// function returns the function of that name with both buffers.
func (u uneven) function(name string) function {
	return function{u.Primitive, name, []buffer{{u.dst.name, u.of(u.dst)}, {u.src.name, u.of(u.src)}}}
}

// unevenInto checks the arguments and hands the call over to the runtime.
func (f *file) unevenInto(u uneven) ([]jen.Code, error) {
	s, code := callScope(u.Primitive, []string{spec.Rank.Name, spec.Size.Name})
	refusals, err := f.refusals(u.Primitive, s)
	if err != nil {
		return nil, err
	}
	code = append(code, refusals...)
	for _, side := range []side{u.dst, u.src} {
		check, err := f.countsOf(u, s, side)
		if err != nil {
			return nil, err
		}
		code = append(code, check...)
	}
	own, err := f.equallyLong(u, s)
	if err != nil {
		return nil, err
	}
	args, err := f.args(u.Primitive, s)
	call := f.handOver(u.Primitive, jen.Id(u.dst.name), jen.Id(u.src.name), f.blocks(u), args)
	return append(code, own, jen.Return(call)), err
}

// blocks prints the Blocks of both buffers.
func (f *file) blocks(u uneven) jen.Code {
	var fields []jen.Code
	for _, x := range []struct {
		field string
		side
	}{{"Dst", u.dst}, {"Src", u.src}} {
		if name := u.of(x.side); name != "" {
			fields = append(fields, jen.Id(x.field).Op(":").Id(name))
		}
	}
	return jen.Op("&").Add(f.written("BlocksOf")).Values(fields...)
}

// countsOf checks that there is a count for each block of a buffer, where a rank passes it.
func (f *file) countsOf(u uneven, s *scope, x side) ([]jen.Code, error) {
	name := u.of(x)
	var check *jen.Statement
	if name != "" {
		given := jen.Len(jen.Id(name).Dot("Counts"))
		check = jen.If(jen.Add(given).Op("!=").Id("size")).Block(
			f.refuse(u.Primitive, name+" has %d Counts, want %d", given, jen.Id("size")))
	}
	if x.On.IsAbsent() {
		if check == nil {
			return nil, nil
		}
		return []jen.Code{check}, nil
	}
	elsewhere, err := s.truth(spec.Not(x.On))
	ignored := jen.Id(x.name).Op("=").Nil()
	if name != "" {
		ignored = jen.List(jen.Id(x.name), jen.Id(name)).Op("=").List(jen.Nil(), f.fast("Blocks").Values())
	}
	code := jen.If(elsewhere).Block(ignored.Commentf("%s only where %v", counts(name), x.On))
	if check != nil {
		code.Else().Add(check)
	}
	return []jen.Code{code}, err
}

// counts returns the verb for a buffer, and its Blocks if it has any.
func counts(blocks string) string {
	if blocks == "" {
		return "it counts"
	}
	return "they count"
}

// equallyLong checks that the block that a rank has of its own is as long in both buffers.
func (f *file) equallyLong(u uneven, s *scope) (jen.Code, error) {
	length := func(x side, own spec.Expr) (jen.Code, error) {
		name := u.of(x)
		if name == "" {
			return f.elements(x.name), nil
		}
		at, err := s.number(own)
		return jen.Id(name).Dot("Counts").Index(at), err
	}
	dst, err := length(u.dst, u.ownDst)
	if err != nil {
		return nil, err
	}
	src, err := length(u.src, u.ownSrc)
	if err != nil {
		return nil, err
	}
	holds := jen.Add(dst).Op("!=").Add(src)
	for _, x := range []side{u.src, u.dst} {
		if x.On.IsAbsent() {
			continue
		}
		on, err := s.truth(x.On)
		if err != nil {
			return nil, err
		}
		holds = jen.Add(on).Op("&&").Add(holds)
	}
	return jen.If(holds).Block(f.refuse(u.Primitive, "the block of rank %d has %d elements in dst, and %d in src",
		jen.Id("rank"), dst, src)), nil
}

// unevenInPlace hands one buffer over as both.
func (f *file) unevenInPlace(u uneven, share sharing) []jen.Code {
	at := jen.Id("c").Dot("Rank").Call()
	var code []jen.Code
	if on := share.whole.On; !on.IsAbsent() { // where rank == root: see contains
		code = append(code, jen.If(jen.Add(at).Op("!=").Id("root")).Block(u.pass(share.part.name, jen.Nil(), jen.Id("buf"))))
		at = jen.Id("root")
	}
	part := jen.List(jen.Id(share.part.name), jen.Err()).Op(":=").Add(f.calls("BlockOf")).Call(
		jen.Lit(u.Name), jen.Id("buf"), jen.Id("blocks"), at)
	return append(code, part, jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		u.pass(share.part.name, jen.Id("buf"), jen.Id(share.part.name)))
}

// pass hands part over as the buffer called name, and whole as the other one.
func (u uneven) pass(name string, whole, part jen.Code) jen.Code {
	blocks := jen.Id("blocks")
	if name == "dst" {
		return arguments(u.Primitive, u.Name+"Into", part, whole, blocks)
	}
	return arguments(u.Primitive, u.Name+"Into", whole, blocks, part)
}

// checkUneven returns what keeps the body of a, whose blocks are uneven, from being printed.
func checkUneven(a *gen.Algorithm) error {
	if _, err := unevenOf(a.Primitive); err != nil {
		return err
	}
	if !a.Scratch.IsAbsent() && !a.Primitive.SameCounts() {
		return fmt.Errorf("%w: the scratch of %s, because not every rank passes the lengths of all blocks", errUneven,
			a.FullName())
	}
	return nil
}

// unevenLengths says how long blocks are, and who has to know.
func unevenLengths(p spec.Primitive) string {
	u, err := unevenOf(p)
	if err != nil {
		return ""
	}
	var all []string
	for _, x := range []side{u.src, u.dst} {
		words := x.name + " is one block"
		if name := u.of(x); name != "" {
			words = fmt.Sprintf("%s has a block for each rank, as %s says", x.name, name)
		}
		if !x.On.IsAbsent() {
			words += fmt.Sprintf(", where %v, and what others pass is ignored", x.On)
		}
		all = append(all, words)
	}
	words := strings.Join(all, "; ") + ". "
	if p.SameCounts() {
		return words + "All ranks pass the same Counts, which they compare, and Displs of their own."
	}
	return words + "A block is as long on the rank that sends it as on the one that receives it."
}
