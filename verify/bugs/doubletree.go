package bugs

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// doubleTree returns an all-reduce of two trees, each for one half of a block, after Sanders, Speck and Träff: a rank
// is a leaf of one of them and not of the other. The number of ranks is a power of two. What a rank sends as a leaf,
// and what it receives from its children if these are leaves, is in one step, or else each in a step of its own.
func doubleTree(inOneStep bool) gen.Algorithm {
	var (
		last   = spec.Sub(spec.Size, one)
		rankOf = func(tree, p spec.Expr) spec.Expr { return spec.If(spec.Eq(tree, zero), p, spec.Sub(last, p)) }
		parent = func(p, bit spec.Expr) spec.Expr { // of a node whose lowest bit that is set is bit
			right := spec.Or(spec.Ne(spec.BitAnd(p, spec.Mul(two, bit)), zero), spec.Le(spec.Size, spec.Add(p, bit)))
			return spec.If(right, spec.Sub(p, bit), spec.Add(p, bit))
		}
		own                 = gen.Chunk(spec.Out, v("mine"))
		partial             = gen.Slot(spec.Scratch, zero, v("mine"))
		isRoot              = spec.Eq(v("p"), zero)
		sends               = gen.Send{To: v("above"), Data: gen.Chunk(spec.In, v("leaf"))}
		gets                = gen.Recv{From: v("above"), Into: gen.Chunk(spec.Out, v("leaf"))}
		fromLeft, fromRight = gen.Recv{From: v("left"), Into: gen.Slot(spec.Scratch, two, v("mine"))},
			gen.Recv{From: v("right"), Into: gen.Slot(spec.Scratch, one, v("mine"))}
		up = []gen.Node{gen.If{Cond: spec.Not(isRoot), Then: []gen.Node{fromLeft}}, fromRight,
			gen.Copy{Into: partial, From: gen.Chunk(spec.In, v("mine"))},
			gen.Reduce{Into: partial, Var: "i", N: v("operands"), From: gen.Slot(spec.Scratch, v("i"), v("mine"))}}
		down = []gen.Node{gen.If{Cond: spec.Not(isRoot), Then: []gen.Node{gen.Send{To: v("left"), Data: own}}},
			gen.Send{To: v("right"), Data: own}}
	)
	step := func(lists ...[]gen.Node) (s gen.Step) {
		for _, l := range lists {
			s = append(s, l...)
		}
		return s
	}
	leaf := func(x gen.Node) []gen.Node { return []gen.Node{x} }
	near := spec.Int(0)
	if inOneStep {
		near = spec.Eq(v("half"), one)
	}
	return gen.Algorithm{
		Name: "double-tree", Primitive: spec.AllReduce, Chunks: two, Scratch: spec.Int(3),
		Requires: gen.Requires{Commutative: true, Size: spec.And(spec.Lt(one, spec.Size),
			spec.Eq(spec.BitAnd(spec.Size, last), zero))},
		Body: []gen.Node{
			gen.Let{Name: "mine", Is: spec.BitAnd(spec.Rank, one)},
			gen.Let{Name: "leaf", Is: spec.Sub(one, v("mine"))},
			gen.Let{Name: "p", Is: rankOf(v("mine"), spec.Rank)},
			gen.Let{Name: "half", Is: spec.Shr(spec.If(isRoot, spec.Size, spec.BitAnd(v("p"), spec.Sub(zero, v("p")))), one)},
			gen.Let{Name: "operands", Is: spec.If(isRoot, two, spec.Int(3))},
			gen.Let{Name: "left", Is: rankOf(v("mine"), spec.Sub(v("p"), v("half")))},
			gen.Let{Name: "right", Is: rankOf(v("mine"), spec.Add(v("p"), v("half")))},
			gen.Let{Name: "parent", Is: rankOf(v("mine"), parent(v("p"), spec.Mul(two, v("half"))))},
			gen.Let{Name: "above", Is: rankOf(v("leaf"), parent(spec.Sub(last, v("p")), one))},
			gen.If{Cond: near, Then: []gen.Node{step(leaf(sends), up)}, Else: []gen.Node{step(leaf(sends)), step(up)}},
			gen.If{Cond: isRoot, Then: []gen.Node{gen.Step{gen.Copy{Into: own, From: partial}, gen.Finish{Data: own}}},
				Else: []gen.Node{
					gen.Step{gen.Send{To: v("parent"), Data: partial}}, gen.Step{gen.Recv{From: v("parent"), Into: own}}}},
			gen.If{Cond: near, Then: []gen.Node{step(down, leaf(gets))}, Else: []gen.Node{step(down), step(leaf(gets))}},
		},
	}
}
