package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The words that algorithms are written in: short names for what spec provides.

type expr = spec.Expr

var (
	rank, size, root, depth = spec.Rank, spec.Size, spec.Root, spec.Depth
	local                   = spec.Local
	zero, one, two          = spec.Int(0), spec.Int(1), spec.Int(2)

	v                = spec.Var
	add, sub, mul    = spec.Add, spec.Sub, spec.Mul
	div              = spec.Div
	least, most      = spec.Min, spec.Max
	eq, ne, lt, gt   = spec.Eq, spec.Ne, spec.Lt, spec.Gt
	le, not          = spec.Le, spec.Not
	yes, no          = one, zero
	cond, up, down   = spec.If, spec.Up, spec.Down
	shl, shr         = spec.Shl, spec.Shr
	bitAnd, bitXor   = spec.BitAnd, spec.BitXor
	log2, ceilLog2   = spec.Log2, spec.CeilLog2
	in, out, scratch = spec.In, spec.Out, spec.Scratch
)

// and holds when all of its operands do, or when one of them does.
func and(first expr, others ...expr) expr { return chained(spec.And, first, others) }
func or(first expr, others ...expr) expr  { return chained(spec.Or, first, others) }

func chained(op func(x, y expr) expr, first expr, others []expr) expr {
	for _, x := range others {
		first = op(first, x)
	}
	return first
}

// power is the largest power of two that is not larger than size, and extra what is left.
var (
	power = shl(one, log2(size))
	extra = sub(size, power)
)

// block returns a buffer that is one chunk long.
func block(buf spec.Buf) gen.Region { return gen.Chunk(buf, zero) }

// alone returns what a communicator of one rank does instead of communicating.
func alone(local ...gen.Node) gen.Node {
	return gen.If{Cond: eq(size, one), Then: []gen.Node{gen.Step(local)}}
}

// others runs body in one step for every other rank, nearest first: to is the t-th after this rank, from the t-th
// before it.
func others(body ...gen.Node) gen.Node {
	return loop("t", sub(size, one), append([]gen.Node{
		let("to", up(add(add(rank, v("t")), one), size)),
		let("from", down(sub(sub(rank, v("t")), one), size)),
	}, body...))
}

// let, letBuf and loop are the nodes Let, LetBuf and For.
func let(name string, is expr) gen.Node { return gen.Let{Name: name, Is: is} }

func letBuf(name spec.Buf, cond expr, then, otherwise spec.Buf) gen.Node {
	return gen.LetBuf{Name: name, Cond: cond, Then: then, Else: otherwise}
}

func loop(v string, n expr, body []gen.Node) gen.Node { return gen.For{Var: v, N: n, Body: body} }
