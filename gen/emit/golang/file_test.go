package golang

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("%s (go test -update accepts it): %s", path, d)
	}
}

// theirs is a package other than fast.
var theirs = Package{Path: "example.org/theirs", Name: "theirs", Command: "go tool collgen gen"}

// proof is what a proof may have to say.
var proof = Proof{Sizes: []int{1, 2, 3, 4, 8}, Depths: []int{1, 2}, Sampled: 9, Schedules: 42, InPlace: true,
	Segment: true}

// TestShapes has functions for buffers of all shapes.
func TestShapes(t *testing.T) {
	input := spec.Value{Kind: spec.Input, Rank: spec.Block, Block: i(0)}
	one, all, onRoot := spec.Buffer{Blocks: i(1)}, spec.Buffer{Blocks: n}, spec.Eq(p, q)
	pre := []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: p, Block: spec.Block}}}
	for _, test := range []spec.Primitive{
		{Name: "Nothing", Post: []spec.Clause{{Value: spec.Value{Kind: spec.Entered}}}},
		{Name: "OnlyIn", In: one},
		{Name: "OnlyOut", Out: all},
		{Name: "Same", In: all, Out: all, InPlace: spec.InPlace{InBlock: i(0), OutBlock: i(0)}},
		{Name: "Apart", In: one, Out: spec.Buffer{Blocks: i(2)}},
		{Name: "Grow", In: one, Out: all, InPlace: spec.InPlace{InBlock: i(0), OutBlock: p}},
		{Name: "Shrink", In: all, Out: one, InPlace: spec.InPlace{InBlock: p, OutBlock: i(0)}},
		{Name: "GrowOnRoot", Params: []spec.Param{spec.ParamRoot}, In: one, Out: spec.Buffer{Blocks: n, On: onRoot},
			InPlace: spec.InPlace{InBlock: i(0), OutBlock: q}, Errors: spec.Gather.Errors},
		{Name: "ShrinkOnRoot", Params: []spec.Param{spec.ParamOp, spec.ParamRoot}, In: spec.Buffer{Blocks: n, On: onRoot},
			Out:     one,
			InPlace: spec.InPlace{InBlock: q, OutBlock: i(0)}},
		{Name: "GrowElsewhere", In: spec.Buffer{Blocks: i(1), On: spec.Gt(p, i(0))}, Out: spec.Buffer{Blocks: i(3)},
			InPlace: spec.InPlace{InBlock: i(0), OutBlock: i(1)}},
		{Name: "Middle", In: spec.Buffer{Blocks: i(2)}, Out: spec.Buffer{Blocks: i(4)},
			InPlace: spec.InPlace{InBlock: i(0), OutBlock: i(2)}},
		// One buffer cannot be both here: the root may be out of range, or neither holds the other.
		{Name: "AtRoot", Params: []spec.Param{spec.ParamRoot}, In: one, Out: all, InPlace: spec.InPlace{InBlock: i(0),
			OutBlock: q},
			Errors: []spec.ArgError{{When: spec.Ge(q, n), Reason: "root is too large"}}},
		{Name: "Overlap", In: spec.Buffer{Blocks: i(2)}, Out: spec.Buffer{Blocks: i(2)}, InPlace: spec.InPlace{InBlock: i(1),
			OutBlock: i(0)}},
		{Name: "Point", Params: []spec.Param{spec.ParamRoot, spec.ParamPeer}, In: spec.Buffer{Blocks: i(1), On: onRoot}},
	} {
		test.Doc, test.Pre = test.Name+" does something.", pre
		if test.Post == nil {
			test.Post = []spec.Clause{{Buf: spec.Out, Value: input}}
		}
		got, err := File(theirs, Collective{Primitive: test})
		if err != nil {
			t.Errorf("%s: %v", test.Name, err)
			continue
		}
		golden(t, FileName(test)+".golden", got)
	}
}

// TestBytes has the functions of a primitive in the runtime, where one of bytes makes the call.
func TestBytes(t *testing.T) {
	got, err := File(Package{Path: Runtime, Name: "fast", Command: "a test"}, Collective{Primitive: spec.Gather})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "bytes.golden", got)
}

// TestList lists primitives, one of which has a name that is taken.
func TestList(t *testing.T) {
	got, err := List(Package{Path: Runtime, Name: "fast", Command: "a test",
		Taken: func(name string) bool { return name == "reduce" }},
		[]spec.Primitive{spec.AllReduce, spec.Reduce})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "list.golden", got)
}

// TestShapesRefused has primitives whose functions could not tell the number of elements.
func TestShapesRefused(t *testing.T) {
	for _, test := range []spec.Primitive{
		{Name: "Zero", In: spec.Buffer{Blocks: i(0)}},
		{Name: "Varies", In: spec.Buffer{Blocks: p}},
		{Name: "Somewhere", In: spec.Buffer{Blocks: i(1), On: spec.Eq(p, i(0))}},
	} {
		if got, err := File(theirs, Collective{Primitive: test}); err == nil {
			t.Errorf("%s is accepted: %s", test.Name, got)
		}
	}
}

// TestBody has an algorithm with everything that a body can have.
func TestBody(t *testing.T) {
	v := spec.Var
	odd := spec.BitAnd(p, i(1))
	block := func(b spec.Buf) gen.Region { return gen.Chunk(b, i(0)) }
	a := gen.Algorithm{
		Name: "every-node", Primitive: spec.AllReduce, Doc: "It shows every node.", Source: "this test",
		Requires: gen.Requires{Size: spec.Eq(spec.BitAnd(n, spec.Sub(n, i(1))), i(0)), Commutative: true, OutOfPlace: true},
		Chunks:   spec.Depth, Scratch: spec.Add(n, i(1)),
		Body: []gen.Node{
			gen.Let{Name: "unused", Is: n},
			gen.Let{Name: "used", Is: spec.Down(spec.Sub(p, i(1)), n)},
			gen.Let{Name: "isOdd", Is: spec.Eq(odd, i(1))},
			// All of a step on one condition, with a local action: so is the exchange.
			gen.Step{gen.If{Cond: v("isOdd"), Then: []gen.Node{
				gen.Send{To: v("used"), Data: block(spec.In)},
				gen.Copy{Into: block(spec.Out), From: block(spec.In)},
			}}},
			// Nothing but an Else, nothing at all, and a signal on each way.
			gen.If{Cond: v("isOdd"), Else: []gen.Node{gen.Step{gen.Finish{Data: block(spec.Out)}}}},
			gen.If{Cond: v("isOdd"), Then: []gen.Node{gen.Let{Name: "nobody", Is: p}}},
			gen.If{
				Cond: v("isOdd"),
				Then: []gen.Node{gen.Step{gen.Send{To: v("used")}}},
				Else: []gen.Node{gen.Step{gen.Recv{From: v("used")}}},
			},
			// A chain, of which the last way has a condition inside its condition.
			gen.If{
				Cond: spec.Eq(p, i(0)), Then: []gen.Node{gen.Step{gen.Finish{Data: block(spec.Out)}}},
				Else: []gen.Node{gen.If{
					Cond: v("isOdd"), Then: []gen.Node{gen.Step{gen.Finish{Data: block(spec.In)}}},
					Else: []gen.Node{gen.If{Cond: spec.Gt(p, i(2)), Then: []gen.Node{
						gen.If{Cond: spec.Lt(p, i(6)), Then: []gen.Node{gen.Step{gen.Finish{Data: block(spec.Out)}}}},
					}}},
				}},
			},
			// Messages in loops and conditions, a name for both parts of the step, local actions behind the exchange.
			gen.For{Var: "k", N: n, Body: []gen.Node{
				gen.Step{
					gen.Let{Name: "d", Is: spec.Up(spec.Add(v("k"), i(1)), n)},
					gen.For{Var: "t", N: spec.Depth, Body: []gen.Node{
						gen.Let{Name: "e", Is: spec.Add(v("t"), v("d"))},
						gen.If{Cond: spec.Ne(v("e"), p), Then: []gen.Node{
							gen.Send{To: v("e"), Data: gen.Span(spec.In, v("t"), i(2))},
							gen.RecvReduce{From: v("e"), Into: gen.Slot(spec.Scratch, v("t"), v("d")), With: gen.Slot(spec.In, v("t"),
								v("d")),
								ReceivedFirst: spec.Lt(v("e"), p), AfterSend: true},
						}},
					}},
					gen.For{Var: "t", N: spec.Depth, Body: []gen.Node{
						gen.Let{Name: "e", Is: spec.Add(v("t"), v("d"))},
						gen.Reduce{Into: gen.Chunk(spec.Out, v("e")), Var: "i", N: n, From: gen.Slot(spec.Scratch, v("i"), v("e"))},
					}},
				},
				// The same name in another step of the same loop.
				gen.Step{
					gen.Let{Name: "d", Is: v("k")},
					gen.Recv{From: v("d"), Into: gen.Chunk(spec.Out, v("d")), AfterSend: true},
				},
			}},
			// A loop without its variable, which continues early.
			gen.For{Var: "k", N: i(3), Body: []gen.Node{
				gen.LetBuf{Name: "sum", Cond: v("isOdd"), Then: spec.Out, Else: spec.Scratch},
				gen.If{Cond: spec.Not(v("isOdd")), Then: []gen.Node{
					gen.Step{
						gen.Send{To: v("used"), Data: gen.Slot("sum", i(0), i(1))},
						gen.Recv{From: v("used"), Into: gen.Chunk("sum", i(0))},
						gen.Reduce{Into: block(spec.Out), Var: "i", N: i(2), From: block(spec.In)},
					},
				}},
			}},
			// A fold in a step, of whose numbers one is not used, and its body's names neither.
			gen.Step{
				gen.Fold{Var: "t", N: n, When: spec.Lt(v("step"), v("rest")), State: []gen.State{
					{Name: "rest", First: spec.Down(spec.Sub(p, i(1)), n), Next: spec.Sub(v("rest"), v("step"))},
					{Name: "turns", First: i(0), Next: spec.Add(v("turns"), i(1))},
					{Name: "at", First: i(0), Next: v("t")},
				}, Body: []gen.Node{
					gen.Let{Name: "unneeded", Is: p},
					gen.Fold{Var: "b", N: v("t"), State: []gen.State{{Name: "step", First: i(1),
						Next: spec.Add(v("step"), v("step"))}}},
				}},
				gen.Send{To: v("at")},
			},
			gen.Step{gen.Send{To: v("used")}},
		},
		Cost: gen.Cost{Alpha: n, Beta: spec.CeilLog2(n)},
	}
	got, err := File(theirs, Collective{Primitive: spec.AllReduce, Algorithms: []Proved{{a, proof, a.Hash()}},
		Rules: []gen.Rule{
			{Transport: "tcp", Algorithm: "every-node", MaxBytes: 100},
			{Algorithm: "every-node", MinSize: 2, MaxSize: 8, MaxBytes: 4096, PieceBytes: 512},
			{Algorithm: "every-node"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "body.golden", got)
}

// TestBodyRefused has algorithms that cannot be printed; the error says in which action.
func TestBodyRefused(t *testing.T) {
	toSum := gen.Step{gen.Send{To: spec.Var("sum")}}
	for _, test := range []struct {
		a    gen.Algorithm
		want string
		node int
	}{
		{gen.Algorithm{Chunks: spec.Up(n, i(2))}, "give it a name with Let", -1},
		{gen.Algorithm{Requires: gen.Requires{Size: spec.Up(n, i(2))}}, "give it a name with Let", -1},
		{gen.Algorithm{Body: []gen.Node{gen.For{Var: "k", N: spec.Lt(p, n), Body: []gen.Node{gen.Step{gen.Send{To: p}}}}}},
			"truth value", -1},
		{gen.Algorithm{Body: []gen.Node{sumOf(i(0), spec.Lt(p, n), n), toSum}}, "truth value", -1},
		{gen.Algorithm{Body: []gen.Node{sumOf(spec.Lt(p, n), i(0), n), toSum}}, "sum is a truth value", -1},
		{gen.Algorithm{Body: []gen.Node{sumOf(i(0), i(1), spec.Lt(p, n)), toSum}},
			"truth value", -1},
		{gen.Algorithm{Body: []gen.Node{gen.Step{gen.Send{To: p}, gen.Send{To: spec.Down(p, n)}}}}, "give it a name with Let",
			1},
		{gen.Algorithm{Body: []gen.Node{gen.Step{gen.Send{To: p}}, gen.If{Cond: p, Then: []gen.Node{
			gen.Step{gen.Copy{Into: gen.Chunk(spec.Out, p), From: gen.Chunk("nothing", p)}}}}}}, `no buffer "nothing"`, 1},
	} {
		test.a.Name, test.a.Primitive = "bad", spec.AllReduce
		got, err := File(theirs, Collective{Primitive: spec.AllReduce,
			Algorithms: []Proved{{Algorithm: test.a, Proof: proof}}})
		e, ok := err.(*Error)
		if !ok || !strings.Contains(e.Error(), test.want) || e.Node != test.node || e.Algorithm != "allreduce/bad" {
			t.Errorf("error %#v, want %q at %d; printed: %s", err, test.want, test.node, got)
		}
	}
}
