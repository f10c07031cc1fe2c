package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// round is the round of the pairwise exchange in which this rank meets the rank gen.Cell: their sum, around the rounds; a
// last rank that is the rounds' number itself meets the one that would be its own partner.
var round = func() expr {
	rounds := v("rounds")
	meet := func(x, y expr) expr { return spec.Up(add(x, y), rounds) }
	return spec.If(eq(rank, rounds), meet(gen.Cell, gen.Cell), spec.If(eq(gen.Cell, rounds), meet(rank, rank), meet(rank, gen.Cell)))
}()

var _ = know("alltoall/pairwise", gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: and(not(eq(gen.Cell, rank)), lt(round, v("t"))), Chunk: rank, First: gen.Cell, Count: one},
	untouched(or(eq(gen.Cell, rank), le(v("t"), round))),
}}}})

var _ = know("send/direct", gen.Hints{Together: [][2]int{{0, 1}}})
