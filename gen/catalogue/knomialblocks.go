package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The k-nomial tree in rank order: the ranks whose numbers differ in the lower digits are a part, whose leader is the
// root, if it is among them, or else their first rank. Of the up to radix parts that make a part of the next level, the
// root is the parent, or else the leader of the first; the leaders of the others are the children. So every subtree is
// a range of ranks, and blocks need no reordering.

// partsMeet has leaders meet at a level: what the parent does, and what each child. They may use shift, the number of
// bits below the level; digit, this rank's there; first, the number of the first part that meets; and mine, the number
// of ranks in this rank's part.
func partsMeet(level expr, parent, child []gen.Node) []gen.Node {
	return []gen.Node{
		let("shift", mul(v("width"), level)),
		let("part", shr(rank, v("shift"))),
		let("top", shr(root, v("shift"))),
		let("digit", spec.Mod(v("part"), radix)),
		let("first", sub(v("part"), v("digit"))),
		let("meets", eq(div(v("top"), radix), div(v("part"), radix))),
		let("parent", cond(v("meets"), root, shl(v("first"), v("shift")))),
		let("mine", least(shl(one, v("shift")), sub(size, rank))),
		gen.If{
			Cond: or(eq(rank, root), and(ne(v("top"), v("part")), eq(rank, shl(v("part"), v("shift"))))),
			Then: []gen.Node{gen.If{Cond: eq(rank, v("parent")), Then: parent, Else: child}},
		},
	}
}

// children runs message for every child of this rank, of which lo is the first rank and theirs the number of ranks.
func children(message gen.Node) gen.Node {
	return loop("c", sub(radix, one), []gen.Node{
		let("other", up(add(add(v("digit"), v("c")), one), radix)),
		let("lo", shl(add(v("first"), v("other")), v("shift"))),
		let("theirs", least(shl(one, v("shift")), sub(size, v("lo")))),
		gen.If{Cond: le(add(v("first"), v("other")), shr(last, v("shift"))), Then: []gen.Node{message}},
	})
}

// partScratch is room for the largest part below the root. A tree of one level needs none.
var partScratch = func() expr {
	below := div(log2(most(last, one)), log2(radix)) // the levels but one
	return shl(least(one, below), mul(log2(radix), below))
}()

// ScatterKNomial passes the blocks of radix-1 parts on in every step.
var ScatterKNomial = register(gen.Algorithm{
	Name:      "k-nomial",
	Primitive: spec.Scatter,
	Doc: "A k-nomial tree in rank order: every rank gets the blocks of its subtree and passes those of " +
		"radix-1 others on " +
		"in each step: fewer steps than of a binomial tree, each of more messages, for short messages.",
	Source:   kNomialSource,
	Param:    radices,
	Requires: gen.Requires{Size: le(size, spec.Int(64))}, // proved for these alone
	Scratch:  partScratch,
	Body: slices.Concat(digits, ownBlocks(in), []gen.Node{
		alone(gen.Copy{Into: block(out), From: block(in)}),
		loop("k", v("rounds"), partsMeet(sub(sub(v("rounds"), one), v("k")),
			[]gen.Node{gen.Step{
				children(gen.Send{To: v("lo"), Data: gen.Span("blocks", sub(v("lo"), v("base")), v("theirs"))}),
				gen.If{Cond: eq(v("shift"), zero),
					Then: []gen.Node{gen.Copy{Into: block(out), From: gen.Chunk("blocks", sub(rank, v("base")))}}},
			}},
			[]gen.Node{
				letBuf("into", eq(v("shift"), zero), out, scratch),
				gen.Step{gen.Recv{From: v("parent"), Into: gen.Span("into", zero, v("mine"))}},
			},
		)),
	}),
	Cost: gen.Cost{Alpha: ofDigits, Gamma: zero}, // what is sent depends on the root: a last part may be smaller
})

// GatherKNomial joins the blocks of radix parts in every step.
var GatherKNomial = register(gen.Algorithm{
	Name:      "k-nomial",
	Primitive: spec.Gather,
	Doc: "A k-nomial tree in rank order: every rank collects the blocks of its subtree, of radix-1 others in each step, " +
		"and passes them on at once: fewer steps than of a binomial tree, each of more messages, for short messages.",
	Source:   kNomialSource,
	Param:    radices,
	Requires: gen.Requires{Size: le(size, spec.Int(64))}, // proved for these alone
	Scratch:  partScratch,
	Body: slices.Concat(digits, ownBlocks(out), []gen.Node{
		alone(gen.Copy{Into: block(out), From: block(in)}),
		loop("k", v("rounds"), partsMeet(v("k"),
			[]gen.Node{gen.Step{
				children(gen.Recv{From: v("lo"), Into: gen.Span("blocks", sub(v("lo"), v("base")), v("theirs"))}),
				gen.If{Cond: eq(v("shift"), zero),
					Then: []gen.Node{gen.Copy{Into: gen.Chunk("blocks", sub(rank, v("base"))), From: block(in)}}},
			}},
			[]gen.Node{
				letBuf("sent", eq(v("shift"), zero), in, scratch),
				gen.Step{gen.Send{To: v("parent"), Data: gen.Span("sent", zero, v("mine"))}},
			},
		)),
	}),
	Cost: gen.Cost{Alpha: ofDigits, Gamma: zero}, // what is sent depends on the root: a last part may be smaller
})
