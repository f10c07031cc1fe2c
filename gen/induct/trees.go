package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// half is a half of the binomial tree at a level, that of this rank: which it is, its ranks, and its leader.
type half struct{ first, count, leader expr }

// halfAt is this rank's half at a level of the tree with the root top.
func halfAt(level, top expr) half {
	pad := v("pad")
	number := func(rank expr) expr { return spec.Shr(add(rank, pad), level) }
	mine := number(rank)
	first := spec.Max(sub(spec.Shl(mine, level), pad), zero)
	end := spec.Min(sub(spec.Shl(add(mine, one), level), pad), size)
	return half{first, sub(end, first), spec.If(eq(number(top), mine), top, first)}
}

func (h half) leads() expr { return eq(rank, h.leader) }
func (h half) alone() expr { return eq(h.count, one) }

// upward is the half before level j on the way to the root, downward that before turn k on the way back.
func upward(top expr) half   { return halfAt(v("j"), top) }
func downward(top expr) half { return halfAt(sub(v("levels"), v("k")), top) }

// sums is the invariant of a reduction up the tree: the leader of a half has its sum, or its own input alone.
func sums(top expr, sum spec.Buf) gen.Invariant {
	h := upward(top)
	return gen.Invariant{Claims: []gen.Claim{
		{Buf: sum, Where: and(h.leads(), or(not(h.alone()), eq(size, one))), Chunk: zero, First: h.first, Count: h.count},
		untouched(and(h.leads(), h.alone())),
	}}
}

var _ = know("reduce/binomial", gen.Hints{Loops: []gen.Invariant{sums(root, "sum")}})

var _ = know("allreduce/tree", gen.Hints{Loops: []gen.Invariant{
	sums(zero, out),
	{Claims: []gen.Claim{final(downward(zero).leads()), untouched(no)}},
}})

var _ = know("broadcast/binomial", gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: and(not(eq(rank, root)), downward(root).leads()), Chunk: zero, First: root, Count: one},
}}}})

// The leader of a half has its blocks: the root among all blocks, another from its own on.
var _ = know("scatter/binomial", func() gen.Hints {
	h := downward(root)
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: scratch, Where: and(not(eq(rank, root)), h.leads(), not(h.alone()), lt(gen.Cell, h.count)),
			Chunk: add(rank, gen.Cell), First: root, Count: one},
		{Buf: out, Where: and(h.leads(), h.alone()), Chunk: rank, First: root, Count: one},
	}}}}
}())

var _ = know("gather/binomial", func() gen.Hints {
	h := upward(root)
	several := and(h.leads(), or(not(h.alone()), eq(size, one)))
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: scratch, Where: and(not(eq(rank, root)), several, lt(gen.Cell, h.count)), Chunk: zero, First: add(rank, gen.Cell), Count: one},
		{Buf: out, Where: and(eq(rank, root), several, le(h.first, gen.Cell), lt(gen.Cell, add(h.first, h.count))), Chunk: zero, First: gen.Cell, Count: one},
	}}}}
}())

// Scatter and all-gather: the rank at a place gets the chunks of its subtree first, and then all others around the ring.
var _ = know("broadcast/scatter-allgather", func() gen.Hints {
	lowest := spec.BitAnd(place, sub(zero, place))
	subtree := spec.Min(lowest, sub(size, place))
	own := and(le(place, gen.Cell), lt(gen.Cell, add(place, subtree)))
	reach := spec.Shl(one, sub(v("levels"), v("k")))
	holds := func(where expr) gen.Invariant {
		return gen.Invariant{Claims: []gen.Claim{
			{Buf: out, Where: and(lt(zero, place), where), Chunk: gen.Cell, First: root, Count: one},
		}}
	}
	return gen.Hints{
		Loops: []gen.Invariant{
			holds(and(le(reach, lowest), own)),
			holds(or(own, le(behind(place, gen.Cell), turn))),
		},
		Together: [][2]int{{0, 1}},
	}
}())
