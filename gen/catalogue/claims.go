package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The words that loop invariants are written in.

// ranksFrom returns the first of count ranks, which is 0 if they are all.
func ranksFrom(count, first expr) expr { return spec.If(eq(count, size), zero, first) }

var turn, piece = v("s"), v("q")

// behind returns how many ranks x lies behind of, around the ring.
func behind(of, x expr) expr { return down(sub(of, x), size) }

// partial says that cells where hold the sum of count ranks from the chunk's number on.
func partial(where, chunk, count expr) gen.Claim {
	return gen.Claim{Buf: out, Where: where, Chunk: gen.Cell, First: ranksFrom(count, chunk), Count: count}
}

// final says that cells where hold the finished sum of all ranks.
func final(where expr) gen.Claim {
	return gen.Claim{Buf: out, Where: where, Chunk: gen.Cell, First: zero, Count: size, Done: true}
}

// untouched says that cells where are still the input, also in place.
func untouched(where expr) gen.Claim {
	return gen.Claim{Buf: in, Where: where, Chunk: gen.Cell, First: rank, Count: one}
}
