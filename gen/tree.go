package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// The binomial tree in rank order. At level j, 2^j neighbouring ranks, counted so that ranks 0..size-1 lie somewhere in
// 0..2^levels-1, form a half, and two halves a whole, which is a half of the next level. Every half has a leader: the
// root, if it is among them, or else their first rank. At level j the leader of one half meets the leader of the other:
// the parent, which leads the whole, and the child. So every subtree is a range of ranks: blocks need no reordering, and
// reductions keep the order of ranks. (The usual tree, over ranks relative to the root, is the same for root 0.)
//
// pad is the number that rank 0 has. It puts the root into a full half of the last level; the half that lacks ranks
// then has fewer of them to wait for than the root has itself.

// levels is the preamble of a tree with the root top.
func levels(top expr) []Node {
	return []Node{
		Let{"levels", ceilLog2(size)},
		Let{"full", shl(one, v("levels"))},
		Let{"pad", cond(lt(mul(two, top), v("full")), zero, sub(v("full"), size))},
	}
}

// toRoot goes through the levels from the leaves on, fromRoot back: what the parent of a meeting does, and what the child.
//
// The names that they may use: partner is the other rank; lo and mine are the first rank and the number of ranks
// of this rank's half, from and theirs those of the other.
func toRoot(top expr, parent, child []Node) Node {
	return For{"j", v("levels"), meeting(top, parent, child)}
}

func fromRoot(top expr, parent, child []Node) Node {
	level := Let{"j", sub(sub(v("levels"), one), v("k"))}
	return For{"k", v("levels"), append([]Node{level}, meeting(top, parent, child)...)}
}

func meeting(top expr, parent, child []Node) []Node {
	var (
		j, half, other = v("j"), v("half"), v("other")
		ranks          = func(half expr) (first, end expr) {
			return most(sub(shl(half, j), v("pad")), zero), least(sub(shl(add(half, one), j), v("pad")), size)
		}
		lo, hi   = ranks(half)
		from, to = ranks(other)
	)
	return []Node{
		Let{"half", shr(add(rank, v("pad")), j)},
		Let{"other", bitXor(half, one)},
		Let{"lo", lo},
		Let{"mine", sub(hi, v("lo"))},
		Let{"from", from},
		Let{"theirs", sub(to, v("from"))},
		Let{"top", shr(add(top, v("pad")), j)},
		Let{"leader", cond(eq(v("top"), half), top, v("lo"))},
		Let{"partner", cond(eq(v("top"), other), top, v("from"))},
		If{Cond: and(eq(rank, v("leader")), gt(v("theirs"), zero)), Then: []Node{
			If{Cond: or(eq(v("top"), half), and(ne(v("top"), other), lt(half, other))), Then: parent, Else: child},
		}},
	}
}

// BroadcastBinomial doubles the number of ranks that have the block in every step.
var BroadcastBinomial = register(Algorithm{
	Name:      "binomial",
	Primitive: spec.Broadcast,
	Doc: "A binomial tree: every rank that has the block passes it on, so that twice as many have it after each " +
		"step; for short messages.",
	Source: thakur,
	Body: slices.Concat(
		levels(root),
		[]Node{LetBuf{"data", eq(rank, root), in, out}},
		treeBroadcast(root, "data"),
		[]Node{If{Cond: eq(rank, root), Then: []Node{Step{Copy{Into: block(out), From: block(in)}}}}},
	),
	Cost: Cost{Alpha: ceilLog2(size), Beta: ceilLog2(size), Gamma: zero},
})

// ReduceBinomial reduces up the tree.
var ReduceBinomial = register(Algorithm{
	Name:      "binomial",
	Primitive: spec.Reduce,
	Doc:       "A binomial tree, whose parents reduce what their children send, in rank order; for short messages.",
	Source:    thakur,
	Scratch:   one,
	Body: slices.Concat(
		levels(root),
		[]Node{
			LetBuf{"sum", eq(rank, root), out, scratch},
			alone(Copy{Into: block(out), From: block(in)}),
		},
		treeReduce(root, "sum"),
		[]Node{If{Cond: eq(rank, root), Then: []Node{Step{Finish{block(out)}}}}},
	),
	Cost: Cost{Alpha: ceilLog2(size), Beta: ceilLog2(size), Gamma: ceilLog2(size)},
})

// AllReduceTree reduces to rank 0 and broadcasts from there.
var AllReduceTree = register(Algorithm{
	Name:      "tree",
	Primitive: spec.AllReduce,
	Doc:       "A reduction to rank 0 and a broadcast from it, both along a binomial tree: the fewest messages in all.",
	Source:    thakur,
	Body: slices.Concat(
		levels(zero),
		[]Node{alone(Copy{Into: block(out), From: block(in)})},
		treeReduce(zero, out),
		[]Node{If{Cond: eq(rank, zero), Then: []Node{Step{Finish{block(out)}}}}},
		treeBroadcast(zero, out),
	),
	Cost: Cost{Alpha: mul(two, ceilLog2(size)), Beta: mul(two, ceilLog2(size)), Gamma: ceilLog2(size)},
})

// treeBroadcast passes data of the rank top down the tree into everybody's Out; data is Out on all others.
func treeBroadcast(top expr, data spec.Buf) []Node {
	return []Node{fromRoot(top,
		[]Node{Step{Send{v("partner"), block(data)}}},
		[]Node{Step{Recv{From: v("partner"), Into: block(out)}}},
	)}
}

// treeReduce reduces everybody's In up the tree into sum of the rank top, in rank order. A rank whose half is itself
// alone has received nothing yet: its sum is still its In.
func treeReduce(top expr, sum spec.Buf) []Node {
	soFar := LetBuf{"sofar", eq(v("mine"), one), in, sum}
	return []Node{toRoot(top,
		[]Node{soFar, Step{RecvReduce{
			From: v("partner"), Into: block(sum), With: block("sofar"), ReceivedFirst: lt(v("partner"), rank),
		}}},
		[]Node{soFar, Step{Send{v("partner"), block("sofar")}}},
	)}
}

// ScatterBinomial halves the ranges of blocks down the tree.
var ScatterBinomial = register(Algorithm{
	Name:      "binomial",
	Primitive: spec.Scatter,
	Doc: "A binomial tree in rank order: every rank gets the blocks of its subtree and passes halves on; for " +
		"short messages.",
	Source:  treeSource,
	Scratch: treeScratch,
	Body: slices.Concat(
		levels(root),
		ownBlocks(in),
		[]Node{
			alone(Copy{Into: block(out), From: block(in)}),
			fromRoot(root,
				[]Node{Step{
					Send{v("partner"), Span("blocks", sub(v("from"), v("base")), v("theirs"))},
					If{Cond: eq(v("mine"), one), Then: []Node{Copy{Into: block(out), From: Chunk("blocks", sub(rank, v("base")))}}},
				}},
				[]Node{
					LetBuf{"into", eq(v("mine"), one), out, scratch},
					Step{Recv{From: v("partner"), Into: Span("into", zero, v("mine"))}},
				},
			),
		},
	),
	Cost: Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
})

// GatherBinomial joins ranges of blocks up the tree.
var GatherBinomial = register(Algorithm{
	Name:      "binomial",
	Primitive: spec.Gather,
	Doc: "A binomial tree in rank order: every rank collects the blocks of its subtree and passes them on at " +
		"once; for short messages.",
	Source:  treeSource,
	Scratch: treeScratch,
	Body: slices.Concat(
		levels(root),
		ownBlocks(out),
		[]Node{
			alone(Copy{Into: block(out), From: block(in)}),
			toRoot(root,
				[]Node{Step{
					Recv{From: v("partner"), Into: Span("blocks", sub(v("from"), v("base")), v("theirs"))},
					If{Cond: eq(v("mine"), one), Then: []Node{Copy{Into: Chunk("blocks", sub(rank, v("base"))), From: block(in)}}},
				}},
				[]Node{
					LetBuf{"sent", eq(v("mine"), one), in, scratch},
					Step{Send{v("partner"), Span("sent", zero, v("mine"))}},
				},
			),
		},
	),
	Cost: Cost{Alpha: ceilLog2(size), Beta: sub(size, one), Gamma: zero},
})

const treeSource = "Träff: Practical, distributed, low overhead algorithms for irregular gather and scatter collectives, " +
	"Parallel Computing 75, 2018"

// treeScratch is room for the largest subtree below the root: the half of the last level that lacks ranks, or half of the
// root's.
var treeScratch = most(extra, shr(power, one))

// ownBlocks names the blocks that a rank has of its subtree, and the number of the first one: the root's are in a buffer
// of all blocks, those of others begin with their own.
func ownBlocks(ofRoot spec.Buf) []Node {
	return []Node{
		LetBuf{"blocks", eq(rank, root), ofRoot, scratch},
		Let{"base", cond(eq(rank, root), zero, rank)},
	}
}
