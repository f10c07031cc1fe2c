package bugs

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// Common are mistakes that people make, each planted in a correct algorithm.
var Common = []Bug{
	// Messages that are not there, or there twice.
	{What: "a dropped send", In: catalogue.AllReduceRing, Plant: edit.Drop[gen.Send](1),
		Check: verify.Unmatched, Says: "1 sent, 2 received"},
	{What: "a dropped receive", In: catalogue.AllGatherRing, Plant: edit.Drop[gen.Recv](0),
		Check: verify.Unmatched, Says: "1 sent, 0 received"},
	{What: "a doubled send", In: catalogue.AllReduceTree, Plant: edit.Nth(1, twice[gen.Send]),
		Check: verify.Unmatched, Says: "2 sent, 1 received"},
	{What: "a partial sum sent and added twice", In: catalogue.ReduceBinomial,
		Plant: edit.All(edit.Nth(2, twice[gen.Step]), edit.Nth(1, func(x gen.Step) []gen.Node {
			again := x[0].(gen.RecvReduce)
			again.With = again.Into
			return []gen.Node{x, gen.Step{again}}
		})), Check: verify.Postcondition, Says: "is in it 2 times"},
	{What: "a doubled reduction: received once, added twice", In: catalogue.AllReduceOneShot,
		Plant: edit.Set(0, func(x *gen.Reduce) {
			x.N, x.From.At = spec.Add(x.N, one), spec.Min(v(x.Var), spec.Sub(spec.Size, one))
		}), Check: verify.Postcondition, Says: "is in it 2 times"},
	{What: "a send to the wrong rank", In: catalogue.BroadcastBinomial, Plant: edit.Set(0, func(x *gen.Send) {
		x.To = spec.If(spec.Eq(spec.Rank, zero), spec.Sub(spec.Size, one), x.To)
	}), Check: verify.Unmatched},
	{What: "a step too few around the ring", In: catalogue.AllReduceRing,
		Plant: edit.Set(1, func(x *gen.For) { x.N = spec.Max(zero, spec.Sub(x.N, one)) }),
		Check: verify.Uninitialized, Says: "old out"},
	{What: "a doubling too few", In: catalogue.AllGatherBruck,
		Plant: edit.Let("rounds", 0, func(x *gen.Let) { x.Is = spec.Log2(spec.Size) }),
		Check: verify.Uninitialized, Says: "size 3"},

	{What: "a halving too few", In: catalogue.ReduceScatterHalving,
		Plant: edit.Let("rounds", 0, func(x *gen.Let) { x.Is = spec.Log2(spec.Size) }),
		Check: verify.Postcondition, Says: "size 3"},

	// The right messages with the wrong content.
	{What: "what is kept is sent, too", In: catalogue.ReduceScatterHalving,
		Plant: edit.Let("slot", 0, func(x *gen.Let) { x.Is = spec.Add(v("q"), v("q")) }),
		Check: verify.Postcondition, Says: "size 2"},
	{What: "swapped sends, of chunks that differ in length", In: catalogue.BroadcastChain,
		Plant: edit.Set(0, func(x *gen.Send) {
			x.Data.At = spec.Sub(spec.Sub(spec.Depth, one), x.Data.At)
		}),
		Check: verify.Length, Says: "from rank 0 to rank 1, messages arrive in the order in which they are sent: this is " +
			"no. 1 of 2, and no. 2, from [rank 0"},
	{What: "swapped blocks of equal length", In: catalogue.AllToAllDirect,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = v("from") }), Check: verify.Postcondition},
	{What: "blocks that are turned the wrong way on their way out of scratch", In: catalogue.AllGatherBruck,
		Plant: edit.Let("slot", 0, func(x *gen.Let) { x.Is = spec.Down(spec.Sub(spec.Rank, v("q")), spec.Size) }),
		Check: verify.Postcondition, Says: "size 3"},
	{What: "runs of blocks that are put back where others stay", In: catalogue.AllToAllBruck,
		Plant: edit.Let("first", 1, func(x *gen.Let) { x.Is = spec.Sub(x.Is, v("distance")) }),
		Check: verify.Postcondition, Says: "size 2"},
	{What: "two rings that both turn the same way", In: catalogue.AllReduceBothWays,
		Plant: edit.All(edit.Set(1, func(x *gen.Send) { x.To = v("next") }),
			edit.Set(1, func(x *gen.RecvReduce) { x.From = v("prev") })),
		Check: verify.Length, Says: "size 3"},
	{What: "a last round in which the blocks of both directions are the same", In: catalogue.AllGatherBothWays,
		Plant: edit.Let("back", 0, func(x *gen.Let) { x.Is = spec.Shr(spec.Size, one) }),
		Check: verify.Race, Says: "size 2"},
	{What: "a last message that is as long as the one before would make it", In: catalogue.AllGatherBruck,
		Plant: edit.Let("more", 0, func(x *gen.Let) { x.Is = v("have") }),
		Check: verify.Program, Says: "out of range"},
	{What: "a chunk off by one", In: catalogue.AllReduceRing,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = spec.Up(spec.Add(x.Data.At, one), spec.Size) }),
		Check: verify.Length, Says: "as chunk 0 of a block"},
	{What: "a block off by one", In: catalogue.ScatterLinear,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = spec.Up(spec.Add(x.Data.At, one), spec.Size) }),
		Check: verify.Postcondition},
	{What: "a span one block too long", In: catalogue.GatherBinomial,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Add(x.Into.N, one) }),
		Check: verify.Program, Says: "out of range"},
	{What: "a span one chunk too short", In: catalogue.BroadcastScatterAllGather,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Max(one, spec.Sub(x.Into.N, one)) }),
		Check: verify.Length, Says: "2 chunks from chunk 2"},
	{What: "a slot that is copied as if it were another chunk", In: catalogue.AllReduceTwoShot,
		Plant: edit.Set(0, func(x *gen.Copy) { x.Into.Like = zero }), Check: verify.Program, Says: "differ in length"},
	{What: "store for reduce", In: catalogue.AllReduceRing,
		Plant: edit.Nth(0, func(x gen.RecvReduce) []gen.Node { return []gen.Node{gen.Recv{From: x.From, Into: x.Into}} }),
		Check: verify.Postcondition, Says: "is missing"},
	{What: "reduce for store", In: catalogue.AllReduceRing, Plant: edit.Nth(0, func(x gen.Recv) []gen.Node {
		return []gen.Node{gen.RecvReduce{From: x.From, Into: x.Into, With: gen.Chunk(spec.In, x.Into.At)}}
	}), Check: verify.Postcondition, Says: "is in it 2 times"},
	{What: "both directions send the same half", In: halves,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = one }), Check: verify.Postcondition},
	{What: "the operand that was there is forgotten", In: catalogue.ReduceBinomial,
		Plant: edit.Set(1, func(x *gen.LetBuf) { x.Else = spec.In }), Check: verify.Postcondition, Says: "is missing"},

	// The wrong rank.
	{What: "a rank that ought to be relative to the root", In: catalogue.BroadcastScatterAllGather,
		Plant: edit.Let("place", 0, func(x *gen.Let) { x.Is = spec.Rank }), Check: verify.Uninitialized, Says: "old out"},
	{What: "(rank-1) gone negative", In: catalogue.AllGatherRing,
		Plant: edit.Let("prev", 0, func(x *gen.Let) { x.Is = spec.Sub(spec.Rank, one) }),
		Check: verify.Program, Says: "-1"},
	{What: "a wrap-around to the wrong rank", In: catalogue.AllGatherRing,
		Plant: edit.Let("next", 0, func(x *gen.Let) {
			x.Is = spec.If(spec.Lt(spec.Add(spec.Rank, one), spec.Size), spec.Add(spec.Rank, one),
				spec.Min(one, spec.Max(zero, spec.Sub(spec.Size, two))))
		}), Check: verify.Unmatched, Says: "0 sent"},
	{What: "a root that is taken for rank 0", In: catalogue.ScatterLinear,
		Plant: edit.Set(0, func(x *gen.Recv) { x.From = zero }), Check: verify.Program, Says: "the rank itself"},
	{What: "a remainder that is left out", In: catalogue.AllReduceRecursiveDoubling,
		Plant: edit.Let("extra", 0, func(x *gen.Let) { x.Is = zero }), Check: verify.Program},
	{What: "one rank, which nobody thought of", In: catalogue.AllReduceTree, Plant: edit.Drop[gen.If](0),
		Check: verify.Uninitialized, Says: "old out0[0]"},

	// Too early.
	{What: "an early send: what arrives in this step goes on in it", In: catalogue.AllGatherRing,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = v("d") }), Check: verify.Race},
	{What: "a buffer is overwritten while it is sent", In: catalogue.AllGatherRing,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.At = v("c") }), Check: verify.Race},
	{What: "AfterSend dropped", In: catalogue.AllReduceRecursiveDoubling,
		Plant: edit.Set(1, func(x *gen.RecvReduce) { x.AfterSend = false }), Check: verify.Race},
	{What: "AfterSend dropped, which only matters in place", In: catalogue.AllToAllPairwise,
		Plant: edit.Set(0, func(x *gen.Recv) { x.AfterSend = false }), Check: verify.Race, Says: "in place"},
	{What: "two receives into one place", In: catalogue.GatherLinear, Plant: edit.Set(0, func(x *gen.Recv) {
		x.Into.At = spec.If(spec.Gt(spec.Size, two), spec.Up(spec.Add(spec.Root, one), spec.Size), x.Into.At)
	}), Check: verify.Race, Says: "] writes it, ["},
	{What: "a wait in a cycle: everybody receives before it sends", In: catalogue.AllToAllPairwise,
		Plant: edit.Nth(0, func(x gen.Step) []gen.Node {
			recv := x[1].(gen.Recv)
			recv.AfterSend = false
			return []gen.Node{gen.Step{recv}, gen.Step{x[0]}}
		}), Check: verify.Deadlock, Says: "cannot end before its message is sent by"},
	{What: "room that no transport promises: everybody sends before it receives", In: catalogue.AllGatherRing,
		Plant: edit.Nth(1, inTwo), Check: verify.Room, Says: "cannot end before its message is received by"},
	{What: "a double tree: both children are awaited in the step after a rank sends as a leaf", In: doubleTree(false),
		Check: verify.Room, Says: "size 2"},
	{What: "a barrier that lacks its last round", In: catalogue.BarrierDissemination,
		Plant: edit.Let("rounds", 0, func(x *gen.Let) {
			x.Is = spec.Max(zero, spec.Sub(x.Is, one))
		}), Check: verify.Entered, Says: "rank 0 leaves only after rank 1 has come"},
	{What: "a barrier whose rounds have one distance", In: catalogue.BarrierDissemination, Plant: edit.All(
		edit.Let("to", 0, func(x *gen.Let) { x.Is = spec.Up(spec.Add(spec.Rank, one), spec.Size) }),
		edit.Let("from", 0, func(x *gen.Let) { x.Is = spec.Down(spec.Sub(spec.Rank, one), spec.Size) }),
	), Check: verify.Entered},

	// Reductions.
	{What: "a missing finish", In: catalogue.AllReduceOneShot, Plant: edit.Drop[gen.Finish](0), Check: verify.Finish},
	{What: "a doubled finish", In: catalogue.ReduceScatterRing, Plant: edit.Nth(0, twice[gen.Finish]),
		Check: verify.Finish, Says: "finish finish"},
	{What: "a finish of a partial result", In: catalogue.ReduceChain,
		Plant: edit.Nth(0, func(x gen.RecvReduce) []gen.Node {
			return []gen.Node{x, gen.Finish{Data: x.Into}}
		}), Check: verify.Finish},
	{What: "a finish of each input", In: catalogue.AllReduceTwoShot,
		Plant: edit.Nth(0, func(x gen.Copy) []gen.Node {
			return []gen.Node{x, gen.Finish{Data: x.Into}}
		}), Check: verify.Finish},
	{What: "operands out of order, with an operator that need not commute", In: catalogue.ReduceBinomial,
		Plant: edit.Set(0, func(x *gen.RecvReduce) { x.ReceivedFirst = spec.Expr{} }),
		Check: verify.Order, Says: "in rank order"},
	{What: "a ring for an operator that need not commute", In: catalogue.AllReduceRing,
		Plant: func(a *gen.Algorithm) { a.Requires.Commutative = false }, Check: verify.Order},
	{What: "a tree where a left fold is promised", In: catalogue.AllReduceTree,
		Plant: func(a *gen.Algorithm) { a.Primitive.Order = spec.RankOrdered }, Check: verify.Order, Says: "left fold"},

	// Memory.
	{What: "In used as scratch", In: catalogue.AllReduceRing,
		Plant: edit.Set(0, func(x *gen.RecvReduce) { x.Into.Buf = spec.In }),
		Check: verify.Frame, Says: "stays as it was"},
	{What: "a lost in-place guard: all of Out copied over what In still sends", In: catalogue.AllToAllPairwise,
		Plant: func(a *gen.Algorithm) {
			a.Body = append([]gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(spec.Out,
				spec.Down(spec.Sub(spec.Rank, one), spec.Size)), From: gen.Chunk(spec.In, spec.Rank)}}}, a.Body...)
		}, Check: verify.Postcondition, Says: "in place"},
	{What: "a block that nobody copies", In: catalogue.AllGatherRing, Plant: edit.Drop[gen.Copy](0),
		Check: verify.Uninitialized, Says: "old out"},
	{What: "lent data that are copied", In: catalogue.AllReduceOneShot,
		Plant: edit.Nth(0, func(x gen.Copy) []gen.Node {
			return []gen.Node{x, gen.Copy{Into: x.Into, From: x.Into}}
		}), Check: verify.Lend, Says: "a copy reads it"},
	{What: "lent data that are reduced a step later", In: catalogue.AllReduceTwoShot,
		Plant: edit.Nth(0, func(x gen.Step) []gen.Node {
			return []gen.Node{x[:len(x)-2], x[len(x)-2:]}
		}), Check: verify.Lend, Says: "a later step reads it"},
	{What: "a lent copy of what a reduction has overwritten, in place", In: catalogue.AllReduceOneShot,
		Plant: edit.Nth(0, func(x gen.Reduce) []gen.Node {
			return []gen.Node{x, x}
		}), Check: verify.Lend, Says: "has been overwritten"},
	{What: "a result that is lent", In: catalogue.AllGatherDirect,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Lend = true }), Check: verify.Shape, Says: "into scratch"},
	{What: "a slot that is read and never written", In: catalogue.AllReduceOneShot,
		Plant: edit.Drop[gen.Copy](0), Check: verify.Uninitialized, Says: "old scratch"},
	{What: "one slot too few", In: catalogue.AllReduceOneShot,
		Plant: func(a *gen.Algorithm) { a.Scratch = spec.Sub(spec.Size, one) },
		Check: verify.Program, Says: "out of range"},
	{What: "one slot too many", In: catalogue.AllReduceOneShot,
		Plant: func(a *gen.Algorithm) { a.Scratch = spec.Add(spec.Size, one) }, Check: verify.ScratchUnused},
	{What: "a copy that overlaps itself", In: catalogue.AllGatherDirect,
		Plant: edit.Nth(0, func(x gen.Copy) []gen.Node {
			n := spec.Sub(spec.Size, one)
			return []gen.Node{x, gen.If{Cond: spec.Gt(spec.Size, two), Then: []gen.Node{
				gen.Copy{Into: gen.Span(spec.Out, one, n), From: gen.Span(spec.Out, zero, n)},
			}}}
		}), Check: verify.Alias, Says: "a source that is the destination, or apart from it"},
	{What: "a reduction into its own third operand", In: catalogue.ReduceScatterDirect,
		Plant: edit.Nth(0, func(x gen.Reduce) []gen.Node {
			at := spec.Min(two, spec.Sub(spec.Size, one))
			into := x.Into
			x.Into = gen.Chunk(spec.Scratch, at)
			return []gen.Node{x, gen.Copy{Into: into, From: x.Into}}
		}), Check: verify.Alias, Says: "only the first two may be the destination"},
	{What: "a host that begins where another one does", In: catalogue.AllReduceTwoLevel,
		Plant: edit.Set(0, func(x *gen.Send) { x.To = spec.Add(spec.Mul(v("host"), v("hosts")), v("scatterTo")) }),
		Check: verify.Program, Says: "the rank itself"},
	{What: "hosts of unequal numbers of ranks, taken for equal", In: catalogue.AllReduceTwoLevel,
		Plant: func(a *gen.Algorithm) { a.Requires.Size = spec.Expr{} }, Check: verify.Program, Says: "size 3"},
	{What: "AfterSend of a region that only overlaps", In: overlapping, Check: verify.Alias, Says: "another region"},
}

func twice[T gen.Node](x T) []gen.Node { return []gen.Node{x, x} }

// inTwo makes a step's first action, a send, a step of its own.
func inTwo(x gen.Step) []gen.Node { return []gen.Node{x[:1], x[1:]} }
