package induct

import "github.com/collgen/collgen/spec"

// round is the round of the pairwise exchange in which this rank meets the rank Cell: their sum, around the rounds; a
// last rank that is the rounds' number itself meets the one that would be its own partner.
var round = func() expr {
	rounds := v("rounds")
	meet := func(x, y expr) expr { return spec.Up(add(x, y), rounds) }
	return spec.If(eq(rank, rounds), meet(Cell, Cell), spec.If(eq(Cell, rounds), meet(rank, rank), meet(rank, Cell)))
}()

var _ = know("alltoall/pairwise", Hints{Loops: []Invariant{{Claims: []Claim{
	{Buf: out, Where: and(not(eq(Cell, rank)), lt(round, v("t"))), Chunk: rank, First: Cell, Count: one},
	untouched(or(eq(Cell, rank), le(v("t"), round))),
}}}})

var _ = know("send/direct", Hints{Together: [][2]int{{0, 1}}})
