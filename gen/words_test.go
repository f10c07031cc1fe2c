package gen_test

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The words that the tests' algorithms are written in.

type expr = spec.Expr

var (
	rank, size, root, depth = spec.Rank, spec.Size, spec.Root, spec.Depth
	zero, one, two          = spec.Int(0), spec.Int(1), spec.Int(2)

	v                = spec.Var
	add, sub, mul    = spec.Add, spec.Sub, spec.Mul
	least, most      = spec.Min, spec.Max
	eq, lt           = spec.Eq, spec.Lt
	and, or          = spec.And, spec.Or
	cond, up         = spec.If, spec.Up
	shl              = spec.Shl
	bitAnd, bitXor   = spec.BitAnd, spec.BitXor
	log2             = spec.Log2
	in, out, scratch = spec.In, spec.Out, spec.Scratch
)

func block(buf spec.Buf) gen.Region { return gen.Chunk(buf, zero) }

func let(name string, is expr) gen.Node { return gen.Let{Name: name, Is: is} }

func letBuf(name spec.Buf, cond expr, then, otherwise spec.Buf) gen.Node {
	return gen.LetBuf{Name: name, Cond: cond, Then: then, Else: otherwise}
}

func loop(v string, n expr, body []gen.Node) gen.Node { return gen.For{Var: v, N: n, Body: body} }

func when(cond expr, then, otherwise []gen.Node) gen.Node {
	return gen.If{Cond: cond, Then: then, Else: otherwise}
}

func send(to expr, data gen.Region) gen.Node { return gen.Send{To: to, Data: data} }

func reduce(into gen.Region, v string, n expr, from gen.Region) gen.Node {
	return gen.Reduce{Into: into, Var: v, N: n, From: from}
}

func finish(data gen.Region) gen.Node { return gen.Finish{Data: data} }

func region(buf spec.Buf, at, n, like expr) gen.Region {
	return gen.Region{Buf: buf, At: at, N: n, Like: like}
}
