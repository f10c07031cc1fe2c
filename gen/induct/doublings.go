package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Dissemination: before round k a rank has heard of the 2^k ranks that end with itself.
var _ = know("barrier/dissemination", gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: gen.Heard, Where: lt(behind(rank, gen.Cell), spec.Shl(one, v("k")))},
}}}})

// Recursive doubling: before round k a player has what its group of 2^k players had.
var _ = know("allgather/recursive-doubling", gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: and(le(v("lo"), gen.Cell), lt(gen.Cell, add(v("lo"), v("mine")))), Chunk: zero, First: gen.Cell, Count: one},
}}}})

var _ = know("allreduce/recursive-doubling", func() gen.Hints {
	k, extra := v("k"), v("extra")
	group := spec.Shl(spec.Shr(v("player"), k), k)
	firstRank := func(player expr) expr { return add(player, spec.Min(player, extra)) }
	first := firstRank(group)
	count := sub(firstRank(add(group, spec.Shl(one, k))), first)
	onlyInput := and(eq(k, zero), not(v("paired")))
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: out, Where: or(not(onlyInput), eq(size, one)), Chunk: zero, First: first, Count: count},
		untouched(onlyInput),
	}}}}
}())
