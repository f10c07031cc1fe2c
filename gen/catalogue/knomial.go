package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// The k-nomial tree over ranks counted from the root: at level j, the radix^j ranks whose numbers differ in the lower
// digits are a part, whose first rank leads it. Of the radix parts that make a part of the next level, the leader of
// the first is the parent of those of the others.

const kNomialSource = "Wilkins et al.: Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023"

// BroadcastKNomial passes the block to radix-1 further parts in every step.
var BroadcastKNomial = register(gen.Algorithm{
	Name:      "k-nomial",
	Primitive: spec.Broadcast,
	Doc: "A k-nomial tree: in each step every rank that has the block passes it on to radix-1 others: fewer steps than " +
		"of a binomial tree, each of more messages, for short messages.",
	Source: kNomialSource,
	Param:  radices,
	Body: slices.Concat(digits, []gen.Node{
		letBuf("data", eq(rank, root), in, out),
		let("number", fromTop(rank)),
		loop("k", v("rounds"), []gen.Node{
			let("shift", mul(v("width"), sub(sub(v("rounds"), one), v("k")))),
			let("part", shr(v("number"), v("shift"))),
			let("digit", spec.Mod(v("part"), radix)),
			let("parent", up(add(shl(sub(v("part"), v("digit")), v("shift")), root), size)),
			gen.If{Cond: eq(v("number"), shl(v("part"), v("shift"))), Then: []gen.Node{gen.If{
				Cond: eq(v("digit"), zero),
				Then: []gen.Node{gen.Step{loop("c", sub(radix, one), []gen.Node{
					let("child", shl(add(add(v("part"), v("c")), one), v("shift"))),
					let("to", up(add(v("child"), root), size)),
					gen.If{Cond: lt(v("child"), size), Then: []gen.Node{gen.Send{To: v("to"), Data: block("data")}}},
				})}},
				Else: []gen.Node{gen.Step{gen.Recv{From: v("parent"), Into: block(out)}}},
			}}},
		}),
		gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Step{gen.Copy{Into: block(out), From: block(in)}}}},
	}),
	Hints: broadcastKNomialHints,
	Cost:  gen.Cost{Alpha: ofDigits, Beta: ofDigits, Gamma: zero},
})

// fromTop returns how many ranks x lies after the root, around the ring.
func fromTop(x expr) expr { return behind(x, root) }

// Before step k the leaders of the parts have the block.
var broadcastKNomialHints = func() gen.Hints {
	digits := mul(v("width"), sub(v("rounds"), v("k")))
	leads := eq(v("number"), shl(shr(v("number"), digits), digits))
	return gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: out, Where: and(not(eq(rank, root)), leads), Chunk: zero, First: root, Count: one},
		}}},
		Turns: []gen.Turns{{Turn: sub(spec.Mod(shr(fromTop(spec.Peer), v("shift")), radix), one)}},
	}
}()

// ReduceKNomial adds up radix-1 further parts in every step.
var ReduceKNomial = register(gen.Algorithm{
	Name:      "k-nomial",
	Primitive: spec.Reduce,
	Doc: "A k-nomial tree: in each step parents reduce what radix-1 others have: fewer steps than of a binomial tree, " +
		"each of more messages, for short messages.",
	Source:   kNomialSource,
	Param:    radices,
	Requires: gen.Requires{Commutative: true}, // ranks are counted from the root
	Scratch:  least(radix, size),
	Body: slices.Concat(digits, []gen.Node{
		let("number", fromTop(rank)),
		loop("k", v("rounds"), []gen.Node{
			let("shift", mul(v("width"), v("k"))),
			let("part", shr(v("number"), v("shift"))),
			let("digit", spec.Mod(v("part"), radix)),
			let("parent", up(add(shl(sub(v("part"), v("digit")), v("shift")), root), size)),
			let("children", least(sub(radix, one), shr(sub(last, v("number")), v("shift")))),
			letBuf("sofar", eq(v("k"), zero), in, scratch),
			gen.If{Cond: eq(v("number"), shl(v("part"), v("shift"))), Then: []gen.Node{gen.If{
				Cond: eq(v("digit"), zero),
				Then: []gen.Node{gen.Step{
					loop("c", v("children"), []gen.Node{
						let("from", up(add(shl(add(add(v("part"), v("c")), one), v("shift")), root), size)),
						gen.Recv{From: v("from"), Into: gen.Chunk(scratch, add(v("c"), one)), Lend: true},
					}),
					gen.Copy{Into: block(scratch), From: block("sofar")},
					gen.Reduce{
						Into: block(scratch), Var: "i", N: add(v("children"), one), From: gen.Chunk(scratch, v("i")),
					},
				}},
				Else: []gen.Node{gen.Step{gen.Send{To: v("parent"), Data: block("sofar")}}},
			}}},
		}),
		letBuf("sum", eq(size, one), in, scratch),
		gen.If{Cond: eq(rank, root), Then: []gen.Node{gen.Step{
			gen.Copy{Into: block(out), From: block("sum")}, gen.Finish{Data: block(out)},
		}}},
	}),
	Hints: reduceKNomialHints,
	Cost:  gen.Cost{Alpha: ofDigits, Beta: ofDigits, Gamma: ofDigits},
})

// Before step k the leader of a part has its sum, but for the first step.
var reduceKNomialHints = func() gen.Hints {
	digits := mul(v("width"), v("k"))
	leads := eq(v("number"), shl(shr(v("number"), digits), digits))
	count := least(shl(one, digits), sub(size, v("number")))
	return gen.Hints{
		Loops: []gen.Invariant{{Claims: []gen.Claim{
			{Buf: scratch, Where: and(eq(gen.Cell, zero), leads, lt(zero, v("k"))), Chunk: zero,
				First: ranksFrom(count, rank), Count: count},
			untouched(yes),
		}}},
		Turns: []gen.Turns{{
			Of:   up(add(shl(add(v("part"), gen.Cell), v("shift")), root), size),
			Turn: sub(spec.Mod(shr(fromTop(rank), v("shift")), radix), one),
		}},
	}
}()
