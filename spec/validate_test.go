package spec_test

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
)

func TestValidate(t *testing.T) {
	for _, p := range append(spec.Primitives(), exchange, scan) {
		if err := spec.Validate(p); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestValidateFaults(t *testing.T) {
	malformed := spec.Expr{Kind: spec.AddExpr, Args: []spec.Expr{spec.Rank}}
	for _, c := range []struct {
		want string
		from spec.Primitive
		f    func(*spec.Primitive)
	}{
		{`the name "" is not`, scan, func(p *spec.Primitive) { p.Name = "" }},
		{`the name "scan" is not`, scan, func(p *spec.Primitive) { p.Name = "scan" }},
		{`the name "A;B" is not`, scan, func(p *spec.Primitive) { p.Name = "A;B" }},
		{"Doc is empty", scan, func(p *spec.Primitive) { p.Doc = "" }},
		{`there is no parameter "tag"`, scan, func(p *spec.Primitive) { p.Params = append(p.Params, "tag") }},
		{"listed twice", scan, func(p *spec.Primitive) { p.Params = append(p.Params, spec.ParamOp) }},
		{"nothing depends on the parameter root", scan,
			func(p *spec.Primitive) { p.Params = append(p.Params, spec.ParamRoot) }},
		{"the variable root has no meaning here", scan, func(p *spec.Primitive) { p.Out.On = spec.Eq(spec.Rank, spec.Root) }},
		{"the variable depth has no meaning here", scan, func(p *spec.Primitive) { p.In.Blocks = spec.Depth }},
		{"the variable block has no meaning here", scan, func(p *spec.Primitive) { p.In.Blocks = spec.Block }},
		{"Post[0].Where: the variable q", scan, func(p *spec.Primitive) { p.Post[0].Where = spec.Q }},
		{"Post[0].Value.Rank: the variable x", exchange, func(p *spec.Primitive) { p.Post[0].Value.Rank = spec.Var("x") }},
		{"is not an expression", scan, func(p *spec.Primitive) { p.Post[0].Where = malformed }},
		{"an operand of none + 1 is absent", scan, func(p *spec.Primitive) {
			p.Post[0].Where = spec.Add(spec.Expr{},
				spec.Int(1))
		}},
		{"in has no blocks, but On says", scan, func(p *spec.Primitive) { p.In = spec.Buffer{On: spec.Rank} }},
		{"the primitive has no buffer in", scan, func(p *spec.Primitive) { p.In = spec.Buffer{} }},
		{"no condition mentions out", scan, func(p *spec.Primitive) { p.Post = p.Post[:0] }},
		{"there are no postconditions", scan, func(p *spec.Primitive) { p.Post = p.Post[:0] }},
		{"InPlace names a block of one buffer only", scan, func(p *spec.Primitive) { p.InPlace.InBlock = spec.Expr{} }},
		{"InPlace needs both buffers", scan, func(p *spec.Primitive) { p.Out = spec.Buffer{} }},
		{"InPlace needs both buffers", spec.Barrier, func(p *spec.Primitive) { p.InPlace = scan.InPlace }},
		{"a precondition says which Input", scan, func(p *spec.Primitive) { p.Pre[0].Value = spec.Value{} }},
		{"a clause cannot say unchanged", scan, func(p *spec.Primitive) { p.Post[0].Value.Kind = spec.Unchanged }},
		{"a clause cannot say kind(9)", scan, func(p *spec.Primitive) { p.Post[0].Value.Kind = 9 }},
		{"a value of kind fold has no Rank", scan, func(p *spec.Primitive) { p.Post[0].Value.Rank = spec.Rank }},
		{"a value of kind fold needs Block", scan, func(p *spec.Primitive) { p.Post[0].Value.Block = spec.Expr{} }},
		{`there is no buffer "scratch"`, scan, func(p *spec.Primitive) { p.Post[0].Buf = spec.Scratch }},
		{`is not said of "out"`, spec.Barrier, func(p *spec.Primitive) { p.Post[0].Buf = spec.Out }},
		{"a primitive with the parameter op needs", scan, func(p *spec.Primitive) { p.Params = nil }},
		{"a primitive with the parameter op needs", exchange, func(p *spec.Primitive) { p.Params = scan.Params }},
		{"is no order of this primitive", exchange, func(p *spec.Primitive) { p.Order = spec.SameTree }},
		{"order(7) is no order", scan, func(p *spec.Primitive) { p.Order = 7 }},
		{"needs When and Reason", scan, func(p *spec.Primitive) { p.Errors = []spec.ArgError{{When: spec.Int(0)}} }},
		{"is not refused", spec.Scatter, func(p *spec.Primitive) { p.Errors = nil }},
		{"is not refused", spec.Scatter, func(p *spec.Primitive) { p.Errors = below(spec.Root) }},
		{"is not refused", spec.Send, func(p *spec.Primitive) { p.Errors = append(p.Errors[:1:1], below(spec.Peer)...) }},
		{"every call of more than 2 ranks is refused", scan,
			func(p *spec.Primitive) { p.Errors = []spec.ArgError{{When: spec.Int(1), Reason: "no"}} }},
		{"in has 1 Counts and out has 0", spec.AllGatherV, func(p *spec.Primitive) { p.Out.Counts = nil }},
		{"in has 3 Counts, and 2 are the most", spec.AllToAllV,
			func(p *spec.Primitive) { p.In.Counts = append(p.In.Counts, spec.Size) }},
		{"out has no blocks, but Counts", spec.Barrier, func(p *spec.Primitive) { p.Out.Counts = []spec.Expr{spec.Rank} }},
		{"in.Counts[0] is absent", spec.AllGatherV, func(p *spec.Primitive) { p.In.Counts = []spec.Expr{{}} }},
		{"in.Counts[0]: the variable q", spec.AllGatherV, func(p *spec.Primitive) { p.In.Counts = []spec.Expr{spec.Q} }},
		{"which is not as long", spec.AllGatherV, func(p *spec.Primitive) { p.In.Counts = []spec.Expr{spec.Int(0)} }},
		{"which is not as long", spec.AllToAllV, func(p *spec.Primitive) { p.Out.Counts = p.In.Counts }},
		{"and not as long", emptied, func(p *spec.Primitive) { p.InPlace.OutBlock = spec.Int(0) }},
		{"more than one uneven block is shared", spec.AllToAllV,
			func(p *spec.Primitive) { p.InPlace = spec.AllToAll.InPlace }},
		{"has no block", scan, func(p *spec.Primitive) { p.Post[0].Value.Block = spec.Rank }},
	} {
		if err := spec.Validate(change(c.from, c.f)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// emptied is an AllGatherV that promises nothing of block 0, so that nothing but the sharing of blocks compares its
// length.
var emptied = func() spec.Primitive {
	p := spec.AllGatherV
	p.Post = []spec.Clause{p.Post[0]}
	p.Post[0].Where = spec.Ne(spec.Block, spec.Int(0))
	return p
}()

// below refuses a parameter that is negative, and forgets that it may be too large.
func below(param spec.Expr) []spec.ArgError {
	return []spec.ArgError{{When: spec.Lt(param, spec.Int(0)), Reason: "it is negative"}}
}
