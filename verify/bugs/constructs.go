package bugs

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// Constructs are mistakes with what algorithms have besides steps, rings and trees: parameters, quotients and
// remainders, bits, sums of some ranks, and groups of ranks.
var Constructs = []Bug{
	// A radix as parameter.
	{What: "a digit too few", In: radix4(catalogue.BarrierKDissemination),
		Plant: edit.Let("rounds", 0, func(x *gen.Let) { x.Is = spec.Div(v("levels"), v("width")) }),
		Check: verify.Entered, Says: "no chain of messages"},
	{What: "one digit in each step left out", In: radix4(catalogue.BarrierKDissemination),
		Plant: edit.Let("peers", 0, func(x *gen.Let) { x.Is = spec.Min(two, x.Is) }),
		Check: verify.Entered, Says: "no chain of messages"},
	{What: "a last step with as many digits as the others", In: radix4(catalogue.AllGatherKBruck),
		Plant: edit.Let("peers", 0, func(x *gen.Let) { x.Is = spec.Sub(v("radix"), one) }),
		Check: verify.Program, Says: "the rank itself"},
	{What: "powers of two where those of the radix belong", In: radix4(catalogue.AllGatherKBruck),
		Plant: edit.Let("shift", 0, func(x *gen.Let) { x.Is = v("k") }),
		Check: verify.Uninitialized, Says: "old scratch"},
	{What: "a parent that is not the leader of its part", In: radix4(catalogue.BroadcastKNomial),
		Plant: edit.Let("parent", 0, func(x *gen.Let) {
			x.Is = spec.Up(spec.Add(spec.Shl(spec.Sub(v("part"), one), v("shift")), spec.Root), spec.Size)
		}),
		Check: verify.Unmatched, Says: "1 sent, 0 received"},
	{What: "children beyond the last rank", In: radix4(catalogue.BroadcastKNomial),
		Plant: edit.Set(0, func(x *gen.If) { x.Cond = spec.Le(v("child"), spec.Size) }),
		Check: verify.Program, Says: "the rank itself"},
	{What: "a child too few in each step", In: radix4(catalogue.ReduceKNomial),
		Plant: edit.Let("children", 0, func(x *gen.Let) { x.Is = spec.Min(two, x.Is) }),
		Check: verify.Unmatched, Says: "1 sent, 0 received"},
	{What: "all children in one slot", In: radix4(catalogue.ReduceKNomial),
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into.At = one }),
		Check: verify.Race, Says: "] writes it, ["},
	{What: "a parent's own operand in every step, and not its sum", In: radix4(catalogue.ReduceKNomial),
		Plant: edit.Set(0, func(x *gen.LetBuf) { x.Cond = one }),
		Check: verify.Postcondition, Says: "in1[0] is missing"},
	{What: "digits from the lowest bit on, whatever was doubled", In: radix4(catalogue.AllReduceRecursiveMultiplying),
		Plant: edit.Let("shift", 0, func(x *gen.Let) { x.Is = spec.Mul(v("width"), v("m")) }),
		Check: verify.Postcondition, Says: "in4[0] is missing"},
	{What: "operands in the order in which they come", In: radix4(catalogue.AllReduceRecursiveMultiplying),
		Plant: edit.All(
			edit.Set(0, func(x *gen.Recv) { x.Into.At = spec.Add(v("c"), one) }),
			edit.Set(1, func(x *gen.Copy) { x.Into.At = zero })),
		Check: verify.Order, Says: "in rank order"},
	{What: "a parent that is taken for the leader of the first part", In: radix4(catalogue.GatherKNomial),
		Plant: edit.Let("other", 0, func(x *gen.Let) { x.Is = spec.Add(v("c"), one) }),
		Check: verify.Program, Says: "the rank itself"},
	{What: "a last part that is taken for a whole one", In: radix4(catalogue.ScatterKNomial),
		Plant: edit.Let("mine", 0, func(x *gen.Let) { x.Is = spec.Shl(one, v("shift")) }),
		Check: verify.Length, Says: "a message as long as"},

	// Two trees with a number of pieces as parameter.
	{What: "a right child that does not come closer at the end of a tree", In: catalogue.AllReduceDoubleTree.Members()[0],
		Plant: edit.Let("right", 0, func(x *gen.Let) { x.Is = spec.Add(spec.Rank, spec.Shl(one, v("level"))) }),
		Check: verify.Program, Says: "peer right is 5"},
	{What: "a piece that is passed on while the right child's is added to it",
		In:    catalogue.AllReduceDoubleTree.Members()[0],
		Plant: edit.Let("toParent", 0, func(x *gen.Let) { x.Is = v("fromRight") }),
		Check: verify.Race, Says: "an order between two instructions"},
	{What: "the pieces of both trees in one half", In: catalogue.AllReduceDoubleTree.Members()[0],
		Plant: edit.Set(1, func(x *gen.Send) { x.Data.At = v("fromLeaf") }),
		Check: verify.Length, Says: "a message as long as chunk 16"},

	// Quotients, remainders and bits.
	{What: "a remainder that is taken for a quotient", In: radix4(catalogue.BroadcastKNomial),
		Plant: edit.Let("digit", 0, func(x *gen.Let) { x.Is = spec.Div(v("part"), v("radix")) }),
		Check: verify.Unmatched, Says: "1 sent, 0 received"},
	{What: "a number of rounds that is rounded down", In: radix4(catalogue.AllGatherKBruck),
		Plant: edit.Let("rounds", 0, func(x *gen.Let) { x.Is = spec.Div(v("levels"), v("width")) }),
		Check: verify.Uninitialized, Says: "old scratch"},
	{What: "a digit in another base", In: radix4(catalogue.BroadcastKNomial),
		Plant: edit.Let("digit", 0, func(x *gen.Let) { x.Is = spec.Mod(v("part"), spec.Sub(v("radix"), one)) }),
		Check: verify.Unmatched, Says: "1 sent, 0 received"},
	{What: "bits that are joined where they have to be apart", In: catalogue.AllGatherPAT,
		Plant: edit.Let("passed", 0, func(x *gen.Let) {
			x.Is = spec.Down(spec.Sub(spec.Rank, spec.BitOr(v("o"), v("distance"))), spec.Size)
		}),
		Check: verify.Race, Says: "an order between two instructions"},
	{What: "a sum that waits where another one does", In: catalogue.ReduceScatterPAT,
		Plant: edit.Let("waits", 0, func(x *gen.Let) { x.Is = spec.Min(one, x.Is) }),
		Check: verify.Uninitialized, Says: "in1[0] is missing"},
	{What: "a sum that is begun anew by what is to be added to it", In: catalogue.ReduceScatterPAT,
		Plant: edit.Let("begun", 0, func(x *gen.Let) { x.Is = zero }),
		Check: verify.Postcondition, Says: "is missing"},
	{What: "the end of a binary tree one level too early", In: catalogue.BroadcastBinaryTree,
		Plant: edit.Let("right", 0, func(x *gen.Let) { x.Is = spec.Add(x.Is, one) }),
		Check: verify.Unmatched, Says: "0 sent, 1 received"},

	// Blocks that do not lie side by side.
	{What: "a last block that has gone around the ring", In: catalogue.AllGatherSparbit,
		Plant: edit.Let("blocks", 0, func(x *gen.Let) {
			x.Is = spec.Shr(spec.Add(spec.Shr(spec.Sub(spec.Size, one), v("shift")), two), one)
		}),
		Check: verify.Race, Says: "an order between two instructions"},
	{What: "distances that grow where they have to become shorter", In: catalogue.AllGatherSparbit,
		Plant: edit.Let("shift", 0, func(x *gen.Let) { x.Is = v("k") }),
		Check: verify.Uninitialized, Says: "old out"},

	// Partners on both sides by turns.
	{What: "partners that are on one side alone", In: catalogue.AllReduceSwing,
		Plant: edit.Let("partner", 0, func(x *gen.Let) { x.Is = v("after") }),
		Check: verify.Unmatched, Says: "3 sent, 1 received"},
	{What: "partners as far away as in recursive doubling", In: catalogue.AllReduceSwing,
		Plant: edit.All(
			edit.Let("distance", 0, func(x *gen.Let) { x.Is = spec.Shl(one, v("bit")) }),
			edit.Let("distance", 1, func(x *gen.Let) { x.Is = spec.Shl(one, v("bit")) })),
		Check: verify.Length, Says: "a message as long as chunk 2"},
	{What: "chunks in the order of the ranks, and not of their triples", In: catalogue.AllReduceSwing,
		Plant: edit.Let("thrice", 0, func(x *gen.Let) { x.Is = spec.Rank }),
		Check: verify.Length, Says: "a message as long as"},
	{What: "even and odd ranks with one number", In: catalogue.AllReduceSwing,
		Plant: edit.Let("number", 0, func(x *gen.Let) { x.Is = spec.Shr(v("thrice"), one) }),
		Check: verify.Length, Says: "a message as long as chunk 0"},
	{What: "an all-gather in the order of the reduce-scatter", In: catalogue.AllReduceSwing,
		Plant: edit.Let("bit", 1, func(x *gen.Let) { x.Is = v("k") }),
		Check: verify.Postcondition, Says: "is missing"},
	{What: "a size that is even and no power of two", In: catalogue.AllReduceSwing,
		Plant: func(a *gen.Algorithm) { a.Requires.Size = spec.Eq(spec.BitAnd(spec.Size, one), zero) },
		Check: verify.Length, Says: "size 6"},

	// Numbers that are worked out turn by turn.
	{What: "a search that forgets what it has found", In: circulant8,
		Plant: edit.Set(2, func(x *gen.Fold) {
			x.When = spec.And(spec.Le(spec.Add(spec.Shr(spec.Sub(spec.Size, one), v("left")), one), v("behind")),
				x.When.Args[1])
		}), Check: verify.Race, Says: "size 5"},
	{What: "numbers that change one after the other, so that one takes the next round for this one", In: circulant8,
		Plant: edit.Set(2, func(x *gen.Fold) {
			x.State = slices.Clone(x.State)
			x.State[0].Next = spec.BitOr(v("schedule"), spec.Shl(v("piece"), spec.Mul(spec.Int(4),
				spec.Sub(v("rounds"), x.State[2].Next))))
		}), Check: verify.Uninitialized, Says: "old out1[7]"},
	{What: "a search that ends one place before the last", In: circulant8,
		Plant: edit.Set(2, func(x *gen.Fold) { x.N = spec.Sub(x.N, one) }),
		Check: verify.Unmatched, Says: "2 sent, 3 received"},
	{What: "a sum that stops short of a distance that is all of the rest", In: circulant8,
		Plant: edit.Set(1, func(x *gen.Fold) { x.When = spec.Lt(v("atStep"), v("atRest")) }),
		Check: verify.Uninitialized, Says: "old out2[1]"},
	{What: "a last phase that does not end with the last step", In: circulant8,
		Plant: edit.Let("begin", 0, func(x *gen.Let) { x.Is = zero }),
		Check: verify.Race, Says: "an order between two instructions"},

	// Messages in two parts.
	{What: "no second part of a message that goes around the end", In: catalogue.AllGatherCirculant, Plant: edit.All(
		edit.Set(0, func(x *gen.If) { x.Cond = zero }), edit.Set(1, func(x *gen.If) { x.Cond = zero })),
		Check: verify.Uninitialized, Says: "old out"},
	{What: "half of the size rounded down", In: catalogue.AllGatherCirculant,
		Plant: edit.Let("have", 0, func(x *gen.Let) { x.Is = spec.Max(one, spec.Shr(spec.Size, v("togo"))) }),
		Check: verify.Race, Says: "an order between two instructions"},

	// Sums of some ranks.
	{What: "a scan that leaves out the rank's own operand", In: catalogue.ScanChain,
		Plant: edit.Set(0, func(x *gen.RecvReduce) { x.With = gen.Chunk(spec.Out, x.With.At) }),
		Check: verify.Uninitialized, Says: "in1[0] is missing"},
	{What: "a scan in the wrong order", In: catalogue.ScanDoubling,
		Plant: edit.Set(0, func(x *gen.RecvReduce) { x.ReceivedFirst = spec.Expr{} }),
		Check: verify.Order, Says: "in rank order"},
	{What: "a scan that doubles once too few", In: catalogue.ScanDoubling,
		Plant: edit.Let("rounds", 0, func(x *gen.Let) { x.Is = spec.Log2(spec.Size) }),
		Check: verify.Uninitialized, Says: "in2[0] is missing"},
	{What: "an exscan with the rank's own operand", In: catalogue.ExscanDoubling,
		Plant: edit.Set(0, func(x *gen.Recv) { x.Into = gen.Chunk(spec.Scratch, zero) }),
		Check: verify.Uninitialized, Says: "in0[0] is missing"},
	{What: "a first rank that receives, too", In: catalogue.ScanChain, Plant: edit.All(
		edit.Set(1, func(x *gen.If) { x.Cond = spec.Gt(v("i"), zero) }),
		edit.Set(0, func(x *gen.Send) { x.To = spec.Up(spec.Add(spec.Rank, one), spec.Size) })),
		Check: verify.Program, Says: "is -1"},

	// Groups of ranks, and ranks on each host.
	{What: "a leader that passes on what it has before it has met the others", In: catalogue.AllReduceLeaders,
		Plant: swapLast,
		Check: verify.Finish, Says: "each once"},
	{What: "hosts that meet on the wrong seat", In: catalogue.BroadcastTwoLevel,
		Plant: edit.Let("seat", 0, func(x *gen.Let) { x.Is = spec.Div(spec.Rank, spec.Local) }),
		Check: verify.Program, Says: "the rank itself"},
	{What: "a host too few", In: catalogue.AllGatherTwoLevel,
		Plant: edit.Let("hosts", 0, func(x *gen.Let) { x.Is = spec.Max(one, spec.Sub(x.Is, one)) }),
		Check: verify.Uninitialized, Says: "old out0[1]"},
	{What: "blocks of a host that go to the one after it", In: catalogue.AllToAllTwoLevel,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = spec.Up(spec.Add(x.Data.At, spec.Local), spec.Size) }),
		Check: verify.Postcondition, Says: "in1[2]"},
	{What: "a barrier that leaves a host before all leaders have met", In: catalogue.BarrierTwoLevel, Plant: swapLast,
		Check: verify.Entered, Says: "no chain of messages"},
	{What: "a two-level reduce that finishes on each host", In: catalogue.ReduceTwoLevel,
		Plant: edit.Nth(0, func(x gen.Reduce) []gen.Node { return []gen.Node{x, gen.Finish{Data: x.Into}} }),
		Check: verify.Finish, Says: "finish finish"},
	{What: "sums of a host that are sent whole to each other host", In: catalogue.ReduceScatterTwoLevel,
		Plant: edit.Set(0, func(x *gen.Send) { x.Data.At = v("scatterTo") }),
		Check: verify.Postcondition, Says: "does not belong in it"},
}

// circulant8 is the broadcast in eight pieces whose schedule folds work out.
var circulant8 = catalogue.BroadcastCirculant.Members()[0]

// radix4 is the algorithm with radix 4.
func radix4(a gen.Algorithm) gen.Algorithm { return a.Members()[0] }

// swapLast exchanges the last two nodes of the body.
func swapLast(a *gen.Algorithm) {
	n := len(a.Body)
	body := append([]gen.Node(nil), a.Body...)
	body[n-1], body[n-2] = body[n-2], body[n-1]
	a.Body = body
}
