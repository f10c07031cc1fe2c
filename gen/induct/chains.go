package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The chains: the rank at a place gets what the one before it has, one turn later.

var (
	place = v("place")
	now   = v("i")
)

var _ = know("broadcast/chain", gen.Hints{Loops: []gen.Invariant{{
	Skew: place,
	Claims: []gen.Claim{
		{Buf: out, Where: and(lt(zero, place), lt(gen.Cell, now)), Chunk: gen.Cell, First: root, Count: one},
	},
}}})

var _ = know("reduce/chain", gen.Hints{Loops: []gen.Invariant{{
	Skew: sub(zero, place),
	Claims: []gen.Claim{
		final(and(eq(rank, root), or(lt(gen.Cell, now), eq(size, one)))),
		// The chunk before, summed over this rank and those behind it.
		{Buf: scratch, Where: and(not(eq(rank, root)), lt(place, sub(size, one)), lt(zero, now), le(now, depth),
			eq(gen.Cell, spec.BitAnd(sub(now, one), one))), Chunk: sub(now, one), First: rank, Count: sub(size, place)},
		untouched(or(not(eq(rank, root)), and(le(now, gen.Cell), not(eq(size, one))))),
	},
}}})
