package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"

	"github.com/collgen/collgen/spec"
)

// The binomial tree in rank order. At level j, 2^j neighbouring ranks, counted so that ranks 0..size-1 lie somewhere in
// 0..2^levels-1, form a half, and two halves a whole, which is a half of the next level. Every half has a leader: the
// root, if it is among them, or else their first rank. At level j the leader of one half meets the leader of the other:
// the parent, which leads the whole, and the child. So every subtree is a range of ranks: blocks need no reordering,
// and reductions keep the order of ranks. (The usual tree, over ranks relative to the root, is the same for root 0.)
//
// pad is the number that rank 0 has. It puts the root into a full half of the last level; the half that lacks ranks
// then has fewer of them to wait for than the root has itself.

// levels returns the preamble of a tree with the root top.
func levels(top expr) []gen.Node {
	return []gen.Node{
		let("levels", ceilLog2(size)),
		let("full", shl(one, v("levels"))),
		let("pad", cond(lt(mul(two, top), v("full")), zero, sub(v("full"), size))),
	}
}

// toRoot goes through the levels from the leaves on, fromRoot back: what the parent of a meeting does, and what the
// child.
//
// The names that they may use: partner is the other rank; lo and mine are the first rank and the number of ranks
// of this rank's half, from and theirs those of the other.
func toRoot(top expr, parent, child []gen.Node) gen.Node {
	return loop("j", v("levels"), meeting(top, parent, child))
}

func fromRoot(top expr, parent, child []gen.Node) gen.Node {
	level := let("j", sub(sub(v("levels"), one), v("k")))
	return loop("k", v("levels"), append([]gen.Node{level}, meeting(top, parent, child)...))
}

func meeting(top expr, parent, child []gen.Node) []gen.Node {
	var (
		j, half, other = v("j"), v("half"), v("other")
		ranks          = func(half expr) (first, end expr) {
			return most(sub(shl(half, j), v("pad")), zero), least(sub(shl(add(half, one), j), v("pad")), size)
		}
		lo, hi   = ranks(half)
		from, to = ranks(other)
	)
	return []gen.Node{
		let("half", shr(add(rank, v("pad")), j)),
		let("other", bitXor(half, one)),
		let("lo", lo),
		let("mine", sub(hi, v("lo"))),
		let("from", from),
		let("theirs", sub(to, v("from"))),
		let("top", shr(add(top, v("pad")), j)),
		let("leader", cond(eq(v("top"), half), top, v("lo"))),
		let("partner", cond(eq(v("top"), other), top, v("from"))),
		gen.If{Cond: and(eq(rank, v("leader")), gt(v("theirs"), zero)), Then: []gen.Node{
			gen.If{Cond: or(eq(v("top"), half), and(ne(v("top"), other), lt(half, other))), Then: parent, Else: child},
		}},
	}
}

// BroadcastBinomial doubles the number of ranks that have the block in every step.
var BroadcastBinomial = register(gen.Algorithm{
	Name:      "binomial",
	Primitive: spec.Broadcast,
	Doc: "A binomial tree: every rank that has the block passes it on, so that twice as many have it after each " +
		"step; for short messages.",
	Source: thakur,
	Body: slices.Concat(
		levels(root),
		[]gen.Node{letBuf("data", eq(rank, root), in, out)},
		treeBroadcast(root, "data"),
		[]gen.Node{gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Step{gen.Copy{Into: block(out), From: block(in)}}}}},
	),
	Hints: broadcastBinomialHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: ceilLog2(size), Gamma: zero},
})

// ReduceBinomial reduces up the tree.
var ReduceBinomial = register(gen.Algorithm{
	Name:      "binomial",
	Primitive: spec.Reduce,
	Doc:       "A binomial tree, whose parents reduce what their children send, in rank order; for short messages.",
	Source:    thakur,
	Scratch:   one,
	Body: slices.Concat(
		levels(root),
		[]gen.Node{
			letBuf("sum", eq(rank, root), out, scratch),
			alone(gen.Copy{Into: block(out), From: block(in)}),
		},
		treeReduce(root, "sum"),
		[]gen.Node{gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Step{gen.Finish{Data: block(out)}}}}},
	),
	Hints: reduceBinomialHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: ceilLog2(size), Gamma: ceilLog2(size)},
})

// AllReduceTree reduces to rank 0 and broadcasts from there.
var AllReduceTree = register(gen.Algorithm{
	Name:      "tree",
	Primitive: spec.AllReduce,
	Doc:       "A reduction to rank 0 and a broadcast from it, both along a binomial tree: the fewest messages in all.",
	Source:    thakur,
	Body: slices.Concat(
		levels(zero),
		[]gen.Node{alone(gen.Copy{Into: block(out), From: block(in)})},
		treeReduce(zero, out),
		[]gen.Node{gen.If{Cond: eq(rank, zero), Then: []gen.Node{gen.Step{gen.Finish{Data: block(out)}}}}},
		treeBroadcast(zero, out),
	),
	Hints: allReduceTreeHints,
	Cost:  gen.Cost{Alpha: mul(two, ceilLog2(size)), Beta: mul(two, ceilLog2(size)), Gamma: ceilLog2(size)},
})

// treeBroadcast passes data of the rank top down the tree into everybody's Out; data is Out on all others.
func treeBroadcast(top expr, data spec.Buf) []gen.Node {
	return []gen.Node{fromRoot(top,
		[]gen.Node{gen.Step{gen.Send{To: v("partner"), Data: block(data)}}},
		[]gen.Node{gen.Step{gen.Recv{From: v("partner"), Into: block(out)}}},
	)}
}

// treeReduce reduces everybody's In up the tree into sum of the rank top, in rank order. A rank whose half is itself
// alone has received nothing yet: its sum is still its In.
func treeReduce(top expr, sum spec.Buf) []gen.Node {
	soFar := letBuf("sofar", eq(v("mine"), one), in, sum)
	return []gen.Node{toRoot(top,
		[]gen.Node{soFar, gen.Step{gen.RecvReduce{
			From: v("partner"), Into: block(sum), With: block("sofar"), ReceivedFirst: lt(v("partner"), rank),
		}}},
		[]gen.Node{soFar, gen.Step{gen.Send{To: v("partner"), Data: block("sofar")}}},
	)}
}

// ScatterBinomial halves the ranges of blocks down the tree.
var ScatterBinomial = register(gen.Algorithm{
	Name:      "binomial",
	Primitive: spec.Scatter,
	Doc: "A binomial tree in rank order: every rank gets the blocks of its subtree and passes halves on; for " +
		"short messages.",
	Source:  treeSource,
	Scratch: treeScratch,
	Body: slices.Concat(
		levels(root),
		ownBlocks(in),
		[]gen.Node{
			alone(gen.Copy{Into: block(out), From: block(in)}),
			fromRoot(root,
				[]gen.Node{gen.Step{
					gen.Send{To: v("partner"), Data: gen.Span("blocks", sub(v("from"), v("base")), v("theirs"))},
					gen.If{Cond: eq(v("mine"), one),
						Then: []gen.Node{gen.Copy{Into: block(out), From: gen.Chunk("blocks", sub(rank, v("base")))}}},
				}},
				[]gen.Node{
					letBuf("into", eq(v("mine"), one), out, scratch),
					gen.Step{gen.Recv{From: v("partner"), Into: gen.Span("into", zero, v("mine"))}},
				},
			),
		},
	),
	Hints: scatterBinomialHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
})

// GatherBinomial joins ranges of blocks up the tree.
var GatherBinomial = register(gen.Algorithm{
	Name:      "binomial",
	Primitive: spec.Gather,
	Doc: "A binomial tree in rank order: every rank collects the blocks of its subtree and passes them on at " +
		"once; for short messages.",
	Source:  treeSource,
	Scratch: treeScratch,
	Body: slices.Concat(
		levels(root),
		ownBlocks(out),
		[]gen.Node{
			alone(gen.Copy{Into: block(out), From: block(in)}),
			toRoot(root,
				[]gen.Node{gen.Step{
					gen.Recv{From: v("partner"), Into: gen.Span("blocks", sub(v("from"), v("base")), v("theirs"))},
					gen.If{Cond: eq(v("mine"), one), Then: []gen.Node{gen.Copy{Into: gen.Chunk("blocks", sub(rank, v("base"))),
						From: block(in)}}},
				}},
				[]gen.Node{
					letBuf("sent", eq(v("mine"), one), in, scratch),
					gen.Step{gen.Send{To: v("partner"), Data: gen.Span("sent", zero, v("mine"))}},
				},
			),
		},
	),
	Hints: gatherBinomialHints,
	Cost:  gen.Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
})

const treeSource = "Träff: Practical, distributed, low overhead algorithms for irregular gather and scatter " +
	"collectives, Parallel Computing 75, 2018"

// treeScratch is room for the largest subtree below the root: the half of the last level that lacks ranks, or half of
// the root's.
var treeScratch = most(extra, shr(power, one))

// ownBlocks names the blocks that a rank has of its subtree, and the number of the first one: the root's are in a
// buffer of all blocks, those of others begin with their own.
func ownBlocks(ofRoot spec.Buf) []gen.Node {
	return []gen.Node{
		letBuf("blocks", eq(rank, root), ofRoot, scratch),
		let("base", cond(eq(rank, root), zero, rank)),
	}
}

// What the loops keep, for the proofs for every number of ranks.

// half is a half of the binomial tree at a level, that of this rank: which it is, its ranks, and its leader.
type half struct{ first, count, leader expr }

// halfAt returns this rank's half at a level of the tree with the root top.
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

// hasSum reports whether this rank leads its half, whose sum is more than its own input.
func (h half) hasSum() expr { return and(h.leads(), or(not(h.alone()), eq(size, one))) }

// upward returns the half before level j on the way to the root, downward that before turn k on the way back.
func upward(top expr) half   { return halfAt(v("j"), top) }
func downward(top expr) half { return halfAt(sub(v("levels"), v("k")), top) }

// sums returns the invariant of a reduction up the tree: the leader of a half has its sum, or its own input alone.
func sums(top expr, sum spec.Buf) gen.Invariant {
	h := upward(top)
	return gen.Invariant{Claims: []gen.Claim{
		{Buf: sum, Where: h.hasSum(), Chunk: zero, First: h.first, Count: h.count},
		untouched(and(h.leads(), h.alone())),
	}}
}

var reduceBinomialHints = gen.Hints{Loops: []gen.Invariant{sums(root, "sum")}}

var allReduceTreeHints = gen.Hints{Loops: []gen.Invariant{
	sums(zero, out),
	{Claims: []gen.Claim{final(downward(zero).leads()), untouched(no)}},
}}

var broadcastBinomialHints = gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
	{Buf: out, Where: and(not(eq(rank, root)), downward(root).leads()), Chunk: zero, First: root, Count: one},
}}}}

// The leader of a half has its blocks: the root among all blocks, another from its own on.
var scatterBinomialHints = func() gen.Hints {
	h := downward(root)
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: scratch, Where: and(not(eq(rank, root)), h.leads(), not(h.alone()), lt(gen.Cell, h.count)),
			Chunk: add(rank, gen.Cell), First: root, Count: one},
		{Buf: out, Where: and(h.leads(), h.alone()), Chunk: rank, First: root, Count: one},
	}}}}
}()

var gatherBinomialHints = func() gen.Hints {
	h := upward(root)
	several := h.hasSum()
	return gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{
		{Buf: scratch, Where: and(not(eq(rank, root)), several, lt(gen.Cell, h.count)), Chunk: zero,
			First: add(rank, gen.Cell), Count: one},
		{Buf: out, Where: and(eq(rank, root), several, le(h.first, gen.Cell), lt(gen.Cell, add(h.first, h.count))),
			Chunk: zero, First: gen.Cell, Count: one},
	}}}}
}()
