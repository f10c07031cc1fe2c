package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// The museum of planted bugs: each exhibit is a correct algorithm with one mistake that people make, and the check that
// catches it. What other libraries got wrong is in verify/mutate.
type exhibit struct {
	bug    string
	in     gen.Algorithm
	by     func(*gen.Algorithm)
	caught verify.Check
	says   string // a part of the counterexample
}

var (
	v              = spec.Var
	zero, one, two = spec.Int(0), spec.Int(1), spec.Int(2)
)

var museum = []exhibit{
	// Messages that are not there, or there twice.
	{"a dropped send", catalogue.AllReduceRing, edit.Drop[gen.Send](1), verify.Unmatched, "1 sent, 2 received"},
	{"a dropped receive", catalogue.AllGatherRing, edit.Drop[gen.Recv](0), verify.Unmatched, "1 sent, 0 received"},
	{"a doubled send", catalogue.AllReduceTree, edit.Nth(1, twice[gen.Send]), verify.Unmatched, "2 sent, 1 received"},
	{"a partial sum sent and added twice", catalogue.ReduceBinomial,
		edit.All(edit.Nth(2, twice[gen.Step]), edit.Nth(1, func(x gen.Step) []gen.Node {
			again := x[0].(gen.RecvReduce)
			again.With = again.Into
			return []gen.Node{x, gen.Step{again}}
		})), verify.Postcondition, "is in it 2 times"},
	{"a doubled reduction: received once, added twice", catalogue.AllReduceOneShot, edit.Set(0, func(x *gen.Reduce) {
		x.N, x.From.At = spec.Add(x.N, one), spec.Min(v(x.Var), spec.Sub(spec.Size, one))
	}), verify.Postcondition, "is in it 2 times"},
	{"a send to the wrong rank", catalogue.BroadcastBinomial, edit.Set(0, func(x *gen.Send) {
		x.To = spec.If(spec.Eq(spec.Rank, zero), spec.Sub(spec.Size, one), x.To)
	}), verify.Unmatched, ""},
	{"a step too few around the ring", catalogue.AllReduceRing,
		edit.Set(1, func(x *gen.For) { x.N = spec.Max(zero, spec.Sub(x.N, one)) }), verify.Uninitialized, "old out"},

	// The right messages with the wrong content.
	{"swapped sends, of chunks that differ in length", catalogue.BroadcastChain, edit.Set(0, func(x *gen.Send) {
		x.Data.At = spec.Sub(spec.Sub(spec.Depth, one), x.Data.At)
	}), verify.Length, "from rank 0 to rank 1, messages arrive in the order in which they are sent: this is no. 1 of 2, and no. 2, from [rank 0"},
	{"swapped blocks of equal length", catalogue.AllToAllDirect, edit.Set(0, func(x *gen.Send) { x.Data.At = v("from") }),
		verify.Postcondition, ""},
	{"a chunk off by one", catalogue.AllReduceRing,
		edit.Set(0, func(x *gen.Send) { x.Data.At = spec.Up(spec.Add(x.Data.At, one), spec.Size) }),
		verify.Length, "as chunk 0 of a block"},
	{"a block off by one", catalogue.ScatterLinear,
		edit.Set(0, func(x *gen.Send) { x.Data.At = spec.Up(spec.Add(x.Data.At, one), spec.Size) }),
		verify.Postcondition, ""},
	{"a span one block too long", catalogue.GatherBinomial,
		edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Add(x.Into.N, one) }), verify.Program, "out of range"},
	{"a span one chunk too short", catalogue.BroadcastScatterAllGather,
		edit.Set(0, func(x *gen.Recv) { x.Into.N = spec.Max(one, spec.Sub(x.Into.N, one)) }),
		verify.Length, "2 chunks from chunk 2"},
	{"a slot that is copied as if it were another chunk", catalogue.AllReduceTwoShot,
		edit.Set(0, func(x *gen.Copy) { x.Into.Like = zero }),
		verify.Program, "differ in length"},
	{"store for reduce", catalogue.AllReduceRing,
		edit.Nth(0, func(x gen.RecvReduce) []gen.Node { return []gen.Node{gen.Recv{From: x.From, Into: x.Into}} }),
		verify.Postcondition, "is missing"},
	{"reduce for store", catalogue.AllReduceRing, edit.Nth(0, func(x gen.Recv) []gen.Node {
		return []gen.Node{gen.RecvReduce{From: x.From, Into: x.Into, With: gen.Chunk(spec.In, x.Into.At)}}
	}), verify.Postcondition, "is in it 2 times"},
	{"both directions send the same half", halves, edit.Set(0, func(x *gen.Send) { x.Data.At = one }), verify.Postcondition, ""},
	{"the operand that was there is forgotten", catalogue.ReduceBinomial,
		edit.Set(1, func(x *gen.LetBuf) { x.Else = spec.In }), verify.Postcondition, "is missing"},

	// The wrong rank.
	{"a rank that ought to be relative to the root", catalogue.BroadcastScatterAllGather,
		edit.Let("place", 0, func(x *gen.Let) { x.Is = spec.Rank }),
		verify.Uninitialized, "old out"},
	{"(rank-1) gone negative", catalogue.AllGatherRing,
		edit.Let("prev", 0, func(x *gen.Let) { x.Is = spec.Sub(spec.Rank, one) }), verify.Program, "-1"},
	{"a wrap-around to the wrong rank", catalogue.AllGatherRing, edit.Let("next", 0, func(x *gen.Let) {
		x.Is = spec.If(spec.Lt(spec.Add(spec.Rank, one), spec.Size), spec.Add(spec.Rank, one),
			spec.Min(one, spec.Max(zero, spec.Sub(spec.Size, two))))
	}), verify.Unmatched, "0 sent"},
	{"a root that is taken for rank 0", catalogue.ScatterLinear, edit.Set(0, func(x *gen.Recv) { x.From = zero }),
		verify.Program, "the rank itself"},
	{"a remainder that is left out", catalogue.AllReduceRecursiveDoubling,
		edit.Let("extra", 0, func(x *gen.Let) { x.Is = zero }), verify.Program, ""},
	{"one rank, which nobody thought of", catalogue.AllReduceTree, edit.Drop[gen.If](0), verify.Uninitialized, "old out0[0]"},

	// Too early.
	{"an early send: what arrives in this step goes on in it", catalogue.AllGatherRing,
		edit.Set(0, func(x *gen.Send) { x.Data.At = v("d") }), verify.Race, ""},
	{"a buffer is overwritten while it is sent", catalogue.AllGatherRing,
		edit.Set(0, func(x *gen.Recv) { x.Into.At = v("c") }), verify.Race, ""},
	{"AfterSend dropped", catalogue.AllReduceRecursiveDoubling, edit.Set(1, func(x *gen.RecvReduce) { x.AfterSend = false }),
		verify.Race, ""},
	{"AfterSend dropped, which only matters in place", catalogue.AllToAllPairwise,
		edit.Set(0, func(x *gen.Recv) { x.AfterSend = false }), verify.Race, "in place"},
	{"two receives into one place", catalogue.GatherLinear, edit.Set(0, func(x *gen.Recv) {
		x.Into.At = spec.If(spec.Gt(spec.Size, two), spec.Up(spec.Add(spec.Root, one), spec.Size), x.Into.At)
	}), verify.Race, "] writes it, ["},
	{"a wait in a cycle: everybody receives before it sends", catalogue.AllToAllPairwise, edit.Nth(0, func(x gen.Step) []gen.Node {
		recv := x[1].(gen.Recv)
		recv.AfterSend = false
		return []gen.Node{gen.Step{recv}, gen.Step{x[0]}}
	}), verify.Deadlock, "cannot end before its message is sent by"},
	{"room that no transport promises: everybody sends before it receives", catalogue.AllGatherRing, edit.Nth(1, inTwo),
		verify.Room, "cannot end before its message is received by"},
	{"a double tree: both children are awaited in the step after a rank sends as a leaf", doubleTreeOf(false), func(*gen.Algorithm) {}, verify.Room, "size 2"},
	{"a barrier that lacks its last round", catalogue.BarrierDissemination, edit.Let("rounds", 0, func(x *gen.Let) {
		x.Is = spec.Max(zero, spec.Sub(x.Is, one))
	}), verify.Entered, "rank 0 leaves only after rank 1 has come"},
	{"a barrier whose rounds have one distance", catalogue.BarrierDissemination, edit.All(
		edit.Let("to", 0, func(x *gen.Let) { x.Is = spec.Up(spec.Add(spec.Rank, one), spec.Size) }),
		edit.Let("from", 0, func(x *gen.Let) { x.Is = spec.Down(spec.Sub(spec.Rank, one), spec.Size) }),
	), verify.Entered, ""},

	// Reductions.
	{"a missing finish", catalogue.AllReduceOneShot, edit.Drop[gen.Finish](0), verify.Finish, ""},
	{"a doubled finish", catalogue.ReduceScatterRing, edit.Nth(0, twice[gen.Finish]), verify.Finish, "finish finish"},
	{"a finish of a partial result", catalogue.ReduceChain, edit.Nth(0, func(x gen.RecvReduce) []gen.Node {
		return []gen.Node{x, gen.Finish{Data: x.Into}}
	}), verify.Finish, ""},
	{"a finish of each input", catalogue.AllReduceTwoShot, edit.Nth(0, func(x gen.Copy) []gen.Node {
		return []gen.Node{x, gen.Finish{Data: x.Into}}
	}), verify.Finish, ""},
	{"operands out of order, with an operator that need not commute", catalogue.ReduceBinomial,
		edit.Set(0, func(x *gen.RecvReduce) { x.ReceivedFirst = spec.Expr{} }), verify.Order, "in rank order"},
	{"a ring for an operator that need not commute", catalogue.AllReduceRing,
		func(a *gen.Algorithm) { a.Requires.Commutative = false }, verify.Order, ""},
	{"a tree where a left fold is promised", catalogue.AllReduceTree,
		func(a *gen.Algorithm) { a.Primitive.Order = spec.RankOrdered }, verify.Order, "left fold"},

	// Memory.
	{"In used as scratch", catalogue.AllReduceRing, edit.Set(0, func(x *gen.RecvReduce) { x.Into.Buf = spec.In }),
		verify.Frame, "stays as it was"},
	{"a lost in-place guard: all of Out copied over what In still sends", catalogue.AllToAllPairwise, func(a *gen.Algorithm) {
		a.Body = append([]gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(spec.Out,
			spec.Down(spec.Sub(spec.Rank, one), spec.Size)), From: gen.Chunk(spec.In, spec.Rank)}}}, a.Body...)
	}, verify.Postcondition, "in place"},
	{"a block that nobody copies", catalogue.AllGatherRing, edit.Drop[gen.Copy](0), verify.Uninitialized, "old out"},
	{"lent data that are copied", catalogue.AllReduceOneShot, edit.Nth(0, func(x gen.Copy) []gen.Node {
		return []gen.Node{x, gen.Copy{Into: x.Into, From: x.Into}}
	}), verify.Lend, "a copy reads it"},
	{"lent data that are reduced a step later", catalogue.AllReduceTwoShot, edit.Nth(0, func(x gen.Step) []gen.Node {
		return []gen.Node{x[:len(x)-2], x[len(x)-2:]}
	}), verify.Lend, "a later step reads it"},
	{"a lent copy of what a reduction has overwritten, in place", catalogue.AllReduceOneShot, edit.Nth(0, func(x gen.Reduce) []gen.Node {
		return []gen.Node{x, x}
	}), verify.Lend, "has been overwritten"},
	{"a result that is lent", catalogue.AllGatherDirect, edit.Set(0, func(x *gen.Recv) { x.Lend = true }), verify.Shape, "into scratch"},
	{"a slot that is read and never written", catalogue.AllReduceOneShot, edit.Drop[gen.Copy](0), verify.Uninitialized, "old scratch"},
	{"one slot too few", catalogue.AllReduceOneShot, func(a *gen.Algorithm) { a.Scratch = spec.Sub(spec.Size, one) },
		verify.Program, "out of range"},
	{"one slot too many", catalogue.AllReduceOneShot, func(a *gen.Algorithm) { a.Scratch = spec.Add(spec.Size, one) },
		verify.ScratchUnused, ""},
	{"a copy that overlaps itself", catalogue.AllGatherDirect, edit.Nth(0, func(x gen.Copy) []gen.Node {
		n := spec.Sub(spec.Size, one)
		return []gen.Node{x, gen.If{Cond: spec.Gt(spec.Size, two), Then: []gen.Node{
			gen.Copy{Into: gen.Span(spec.Out, one, n), From: gen.Span(spec.Out, zero, n)},
		}}}
	}), verify.Alias, "a source that is the destination, or apart from it"},
	{"a reduction into its own third operand", catalogue.ReduceScatterDirect, edit.Nth(0, func(x gen.Reduce) []gen.Node {
		at := spec.Min(two, spec.Sub(spec.Size, one))
		into := x.Into
		x.Into = gen.Chunk(spec.Scratch, at)
		return []gen.Node{x, gen.Copy{Into: into, From: x.Into}}
	}), verify.Alias, "only the first two may be the destination"},
	{"AfterSend of a region that only overlaps", overlapping, func(*gen.Algorithm) {}, verify.Alias, "another region"},
}

func twice[T gen.Node](x T) []gen.Node { return []gen.Node{x, x} }

// inTwo makes a step's first action, a send, a step of its own.
func inTwo(x gen.Step) []gen.Node { return []gen.Node{x[:1], x[1:]} }

// halves is a reduce-scatter of two ranks: each sends the other's half and reduces its own.
var halves = gen.Algorithm{
	Name: "halves", Primitive: spec.ReduceScatter, Requires: gen.Requires{Size: spec.Eq(spec.Size, two), Commutative: true},
	Body: []gen.Node{
		gen.Let{Name: "other", Is: spec.Sub(one, spec.Rank)},
		gen.Step{
			gen.Send{To: v("other"), Data: gen.Chunk(spec.In, v("other"))},
			gen.RecvReduce{From: v("other"), Into: gen.Chunk(spec.Out, zero), With: gen.Chunk(spec.In, spec.Rank)},
			gen.Finish{Data: gen.Chunk(spec.Out, zero)},
		},
	},
}

// overlapping has the first two of three ranks exchange two blocks, received one block after those that are sent.
var overlapping = gen.Algorithm{
	Name: "overlapping", Primitive: spec.AllGather, Requires: gen.Requires{Size: spec.Eq(spec.Size, spec.Int(3))},
	Body: []gen.Node{gen.If{Cond: spec.Lt(spec.Rank, two), Then: []gen.Node{gen.Step{
		gen.Send{To: spec.Sub(one, spec.Rank), Data: gen.Span(spec.Out, zero, two)},
		gen.Recv{From: spec.Sub(one, spec.Rank), Into: gen.Span(spec.Out, one, two), AfterSend: true},
	}}}},
}

// TestMuseum: every planted bug is caught, by the check that the exhibit names, with a counterexample that says enough.
func TestMuseum(t *testing.T) {
	for _, x := range museum {
		t.Run(x.bug, func(t *testing.T) {
			a := x.in
			x.by(&a)
			_, err := verify.Algorithm(context.Background(), &a, verify.Options{To: 9, Depths: []int{1, 2, 3, 4}})
			var f *verify.Failure
			if !errors.As(err, &f) {
				t.Fatalf("not caught: %v", err)
			}
			t.Log(err)
			if f.Check != x.caught || !strings.Contains(err.Error(), x.says) {
				t.Errorf("caught by %q, want %q and the words %q", f.Check, x.caught, x.says)
			}
		})
	}
}
