package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// BroadcastBinaryTree passes chunk after chunk down a binary tree: the rank at place p, counted from the root, has
// those at places 2p+1 and 2p+2 below it.
var BroadcastBinaryTree = register(gen.Algorithm{
	Name:      "binary-tree",
	Primitive: spec.Broadcast,
	Doc: "A binary tree passes on chunk after chunk, each rank receiving one while it sends the one before to " +
		"two others: fewer steps than the chain for many ranks, and twice the bytes of a rank.",
	Source: "Sanders, Sibeyn: A bandwidth latency tradeoff for broadcast and reduction, Information Processing Letters " +
		"86(1), 2003; Open MPI, coll_base_bcast.c, bintree",
	Chunks: depth,
	Body: slices.Concat(chain[2:], []gen.Node{
		let("left", add(mul(two, place), one)),
		let("right", add(mul(two, place), two)),
		let("toleft", up(add(root, v("left")), size)),
		let("toright", up(add(root, v("right")), size)),
		let("above", up(add(root, shr(sub(place, one), one)), size)),
		letBuf("data", eq(rank, root), in, out),
		loop("i", add(depth, one), []gen.Node{gen.Step{
			gen.If{Cond: and(gt(now, zero), lt(v("left"), size)),
				Then: []gen.Node{gen.Send{To: v("toleft"), Data: gen.Chunk("data", then)}}},
			gen.If{Cond: and(gt(now, zero), lt(v("right"), size)),
				Then: []gen.Node{gen.Send{To: v("toright"), Data: gen.Chunk("data", then)}}},
			gen.If{Cond: and(lt(now, depth), eq(bitAnd(place, one), one)),
				Then: []gen.Node{gen.Recv{From: v("above"), Into: gen.Chunk(out, now)}}},
			gen.If{Cond: and(lt(now, depth), gt(place, zero), eq(bitAnd(place, one), zero)), Then: []gen.Node{
				gen.Recv{From: v("above"), Into: gen.Chunk(out, now)},
			}},
		}}),
		gen.If{Cond: eq(rank, root),
			Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Span(out, zero, depth), From: gen.Span(in, zero, depth)}}}},
	}),
	Hints: gen.Hints{Loops: []gen.Invariant{{
		Skew:   log2(add(place, one)),
		Claims: broadcastChainHints.Loops[0].Claims,
	}}},
	Cost: gen.Cost{Alpha: binaryTreeCost, Beta: binaryTreeCost, Gamma: zero},
})

// binaryTreeCost is the way to the rank that is reached last, on which what goes to the right waits for what goes to
// the left, and as many messages for each further chunk as the root sends.
var binaryTreeCost = add(
	most(mul(two, sub(log2(size), one)), add(log2(size), log2(add(extra, one)))),
	mul(sub(depth, one), least(two, last)),
)
