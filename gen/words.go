package gen

import "github.com/collgen/collgen/spec"

// The words that algorithms are written in: short names for what spec provides.

type expr = spec.Expr

var (
	rank, size, root, depth = spec.Rank, spec.Size, spec.Root, spec.Depth
	zero, one, two          = spec.Int(0), spec.Int(1), spec.Int(2)

	v                = spec.Var
	add, sub, mul    = spec.Add, spec.Sub, spec.Mul
	least, most      = spec.Min, spec.Max
	eq, ne, lt, gt   = spec.Eq, spec.Ne, spec.Lt, spec.Gt
	and, or          = spec.And, spec.Or
	cond, up, down   = spec.If, spec.Up, spec.Down
	shl, shr         = spec.Shl, spec.Shr
	bitAnd, bitXor   = spec.BitAnd, spec.BitXor
	log2, ceilLog2   = spec.Log2, spec.CeilLog2
	in, out, scratch = spec.In, spec.Out, spec.Scratch
)

// power is the largest power of two that is not larger than size, and extra what is left.
var (
	power = shl(one, log2(size))
	extra = sub(size, power)
)

// block is a buffer that is one chunk long.
func block(buf spec.Buf) Region { return Chunk(buf, zero) }

// alone is what a communicator of one rank does instead of communicating.
func alone(local ...Node) Node {
	return If{Cond: eq(size, one), Then: []Node{Step(local)}}
}

// others runs body in one step for every other rank, nearest first: to is the t-th after this rank, from the t-th before it.
func others(body ...Node) Node {
	return For{"t", sub(size, one), append([]Node{
		Let{"to", up(add(add(rank, v("t")), one), size)},
		Let{"from", down(sub(sub(rank, v("t")), one), size)},
	}, body...)}
}
