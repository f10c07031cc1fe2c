package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The double tree: two binary trees of all ranks, each for one half of the block. Rank r is number r of tree 0, and
// number r+1 of tree 1, in rank order, so that every subtree is a range of ranks. Odd numbers are leaves, so that every
// rank is a leaf of one tree alone. An even number has its children half of its lowest bit before and after it, or the
// right one closer where there is no rank so far after it. Number 0 is the root of tree 0, with a right child alone.
// The root of tree 1 is the child that it would have there.

// A rank has children in tree, where it is number, and is a leaf of leafTree.
var (
	tree, number, level, pieces = v("tree"), v("number"), v("level"), v("pieces")
	hasLeft, hasRight           = lt(zero, number), lt(rank, last)
	isRoot                      = or(eq(v("parent"), rank), lt(v("parent"), zero))
)

// doubleTree says where a rank stands in both trees, if there are two ranks or more.
var doubleTree = slices.Concat([]gen.Node{
	let("top", log2(last)), // the level of the roots
	let("tree", bitAnd(rank, one)),
	let("leafTree", sub(one, tree)),
	let("number", add(rank, tree)),
}, levelOf("level", number), []gen.Node{
	let("left", sub(rank, shl(one, level))),
	let("right", add(rank, shl(one, least(level, log2(most(one, sub(last, rank))))))),
},
	parentOf("parent", number, v("levelBit"), tree),
	parentOf("leafParent", add(rank, v("leafTree")), one, v("leafTree")),
)

// levelOf gives names to the lowest bit of a number, and to how high one stands that has children: on level 0 if they
// are leaves. Number 0 stands above all others.
func levelOf(name string, number expr) []gen.Node {
	return []gen.Node{
		let(name+"Bit", cond(eq(number, zero), shl(two, v("top")), bitAnd(number, sub(zero, number)))),
		let(name, sub(log2(v(name+"Bit")), one)),
	}
}

// parentOf gives names to the rank above a number whose lowest bit is bit, to its level, and to how many turns later it
// gets a piece from there than from its left child.
func parentOf(name string, number, bit, tree expr) []gen.Node {
	isLeft := and(eq(bitAnd(number, mul(two, bit)), zero), lt(add(number, bit), add(size, tree)))
	above := v(name + "Number")
	return slices.Concat([]gen.Node{
		let(name+"Late", cond(isLeft, zero, one)),
		let(name+"Number", cond(v(name+"Late"), most(zero, sub(number, bit)), add(number, bit))),
		let(name, sub(above, tree)),
	}, levelOf(name+"Level", above))
}

// AllReduceDoubleTree reduces each half of the block up a tree, in pieces, and passes the results back down.
//
// A parent gets a piece from its right child in the turn after that in which it gets it from its left one, beside the
// next piece from there. So it passes a piece on two turns after it has got the first of it.
//
// Of its cost, Alpha and Beta are not stated: no simple formula of size says for which of its two trees a rank waits. A
// test in gen/cost has what is measured.
var AllReduceDoubleTree = register(gen.Algorithm{
	Name:      "double-tree",
	Primitive: spec.AllReduce,
	Doc: "Two binary trees, each for one half of the block, which goes up and down in pieces. Every rank is a leaf of " +
		"one of them, so that no rank sends or receives more than two blocks each way, in steps that grow with the " +
		"logarithm of the size: for long messages. Each size up to 64 is proved, and nothing by induction.",
	Source: "Sanders, Speck, Träff: Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel " +
		"Computing 35(12), 2009; NVIDIA NCCL 2, src/graph/trees.cc",
	Param:    gen.Param{Name: "pieces", Values: []int{16, 32}}, // of a half
	Requires: gen.Requires{Size: le(size, spec.Int(64))},       // proved for these alone
	Chunks:   mul(two, pieces),
	Body: []gen.Node{gen.If{Cond: eq(size, one),
		Then: []gen.Node{gen.Step{
			gen.Copy{Into: gen.Span(out, zero, mul(two, pieces)), From: gen.Span(in, zero, mul(two, pieces))},
			gen.Finish{Data: gen.Span(out, zero, mul(two, pieces))},
		}},
		Else: slices.Concat(doubleTree, []gen.Node{
			loop("s", add(pieces, add(mul(two, v("top")), one)), upBothTrees),
			gen.If{Cond: isRoot, Then: []gen.Node{gen.Step{gen.Finish{Data: gen.Span(out, mul(pieces, tree), pieces)}}}},
			loop("s", add(pieces, v("top")), downBothTrees),
		}),
	}},
	Cost: gen.Cost{Gamma: doubleTreeGamma},
})

// doubleTreeGamma is two reductions of each piece, and four more for each level on the way to a root. For some sizes
// the way is one longer or shorter.
var doubleTreeGamma = func() expr {
	top := log2(most(one, last))
	single := and(lt(two, last), eq(last, shl(one, top)))
	more := sub(cond(eq(bitAnd(size, spec.Int(3)), zero), one, zero), cond(single, one, zero))
	many := add(add(mul(two, pieces), sub(mul(spec.Int(4), top), spec.Int(3))), more)
	return cond(le(size, two), mul(last, add(pieces, one)), many)
}()

var upBothTrees = []gen.Node{
	let("fromLeft", sub(turn, mul(two, level))),
	let("fromRight", sub(v("fromLeft"), one)),
	let("toParent", sub(sub(turn, mul(two, v("parentLevel"))), v("parentLate"))),
	let("fromLeaf", sub(sub(turn, mul(two, v("leafParentLevel"))), v("leafParentLate"))),
	letBuf("sofar", hasLeft, out, in),
	gen.Step{
		ifPiece("toParent", gen.Send{To: v("parent"), Data: ofHalf(out, "toParent")}, not(isRoot)),
		ifPiece("fromLeaf", gen.Send{To: v("leafParent"), Data: ofOtherHalf(in, "fromLeaf")}),
		ifPiece("fromLeft", gen.RecvReduce{
			From: v("left"), Into: ofHalf(out, "fromLeft"), With: ofHalf(in, "fromLeft"), ReceivedFirst: yes,
		}, hasLeft),
		ifPiece("fromRight", gen.RecvReduce{
			From: v("right"), Into: ofHalf(out, "fromRight"), With: ofHalf("sofar", "fromRight"),
		}, hasRight),
	},
}

var downBothTrees = []gen.Node{
	let("down", sub(turn, sub(v("top"), level))),
	let("fromParent", sub(turn, sub(v("top"), v("parentLevel")))),
	let("toLeaf", sub(turn, sub(v("top"), v("leafParentLevel")))),
	gen.Step{
		ifPiece("down", gen.Send{To: v("left"), Data: ofHalf(out, "down")}, hasLeft),
		ifPiece("down", gen.Send{To: v("right"), Data: ofHalf(out, "down")}, hasRight),
		ifPiece("fromParent", gen.Recv{From: v("parent"), Into: ofHalf(out, "fromParent")}, not(isRoot)),
		ifPiece("toLeaf", gen.Recv{From: v("leafParent"), Into: ofOtherHalf(out, "toLeaf")}),
	},
}

// ifPiece returns what is done with the piece of a half that has the number of this name, if there is one and all of
// others hold.
func ifPiece(name string, then gen.Node, others ...expr) gen.Node {
	return gen.If{Cond: and(le(zero, v(name)), append([]expr{lt(v(name), pieces)}, others...)...), Then: []gen.Node{then}}
}

// ofHalf is a piece of the half that goes along the tree in which this rank has children, and ofOtherHalf one of that
// for which it is a leaf.
func ofHalf(buf spec.Buf, piece string) gen.Region {
	return gen.Chunk(buf, add(mul(pieces, tree), v(piece)))
}

func ofOtherHalf(buf spec.Buf, piece string) gen.Region {
	return gen.Chunk(buf, add(mul(pieces, v("leafTree")), v(piece)))
}
