package gen

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

// TestInstantiateFindsFaults makes algorithms with one action that is wrong on some rank of three; want is what the
// error says, and rank and node what it is about.
func TestInstantiateFindsFaults(t *testing.T) {
	last := func(nodes ...Node) []Node { return []Node{If{eq(rank, two), nodes, nil}} }
	onLast := func(actions ...Node) []Node { return last(Step(actions)) }
	cut := func(a *Algorithm) { a.Chunks, a.Scratch = two, two }
	far := spec.Int(1 << 30)
	for _, tc := range []struct {
		name string
		body []Node
		more func(*Algorithm)
		want string
		node int
	}{
		{"peer below the ranks", onLast(Send{sub(rank, spec.Int(3)), block(in)}), nil, "peer rank - 3 is -1, with 3 ranks", 0},
		{"peer above the ranks", onLast(Recv{From: add(rank, one), Into: block(out)}), nil, "peer rank + 1 is 3, with 3 ranks", 0},
		{"peer is the rank", onLast(Send{rank, block(in)}), nil, "peer rank is the rank itself", 0},
		{"peer without a value", onLast(Send{v("x"), block(in)}), nil, "x: is not defined here", 0},
		{"place below the buffer", onLast(Send{zero, Chunk(in, sub(zero, one))}), nil, "in[-1] is out of range: the buffer has 1", 0},
		{"place above the buffer", onLast(Send{zero, block(in)}, Send{one, Chunk(in, one)}), nil, "in[1] is out of range", 1},
		{"place too long", onLast(Send{zero, Span(in, zero, two)}), nil, "in[0..2) is out of range", 0},
		{"negative length", onLast(Send{zero, Span(in, one, spec.Int(-1))}), nil, "is out of range", 0},
		{"length that overflows", onLast(Send{zero, Span(in, one, spec.Int(math.MaxInt))}), nil, "is out of range", 0},
		{"place without a value", onLast(Finish{Chunk(out, log2(zero))}), nil, "logarithm of 0", 0},
		{"length without a value", onLast(Finish{Span(out, zero, shl(one, far))}), nil, "shift by", 0},
		{"buffer that the rank does not pass", onLast(Finish{block(out)}), func(a *Algorithm) { a.Primitive = spec.Reduce }, "the buffer has 0", 0},
		{"unknown buffer", onLast(Finish{Span("data", zero, zero)}), nil, `no buffer "data"`, 0},
		{"no data", onLast(Copy{Into: block(out)}), nil, `no buffer ""`, 0},
		{"With out of range", onLast(RecvReduce{From: zero, Into: block(out), With: Chunk(in, one)}), nil, "in[1] is out of range", 0},
		{"order without a value", onLast(RecvReduce{From: zero, Into: block(out), With: block(in), ReceivedFirst: v("x")}), nil, "x: is not", 0},
		{"source of another length", onLast(Copy{Into: block(out), From: Span(in, zero, zero)}), nil, "out[0] and in[0..0) differ in length", 0},
		{"source as long as another chunk", onLast(Copy{Into: block(out), From: Chunk(in, one)}), cut, "out[0] and in[1] differ in length", 0},
		{"operand of another length", onLast(Reduce{block(out), "i", two, Span(in, zero, v("i"))}), nil, "differ in length", 0},
		{"operand out of range", onLast(Reduce{block(out), "i", two, Chunk(in, v("i"))}), nil, "in[1] is out of range", 0},
		{"no operands", onLast(Reduce{block(out), "i", zero, block(in)}), nil, "a reduction of 0 operands", 0},
		{"too many operands", onLast(Reduce{block(out), "i", far, block(in)}), nil, "operands", 0},
		{"number of operands without a value", onLast(Reduce{block(out), "i", v("x"), block(in)}), nil, "x: is not defined", 0},
		{"slot without Like", onLast(Finish{block(scratch)}), cut, "needs Like", 0},
		{"several slots", onLast(Finish{Region{scratch, zero, two, zero}}), cut, "more than one slot", 0},
		{"negative Like", onLast(Finish{Slot(scratch, zero, sub(zero, one))}), cut, "Like is -1", 0},
		{"Like without a value", onLast(Finish{Slot(scratch, zero, v("x"))}), cut, "x: is not defined", 0},
		{"Like of another chunk", []Node{LetBuf{"b", one, out, scratch}, Step{Finish{Slot("b", zero, one)}}}, cut, "out[0] is not like chunk 1", 0},
		{"message after a local action", onLast(Copy{Into: block(out), From: block(in)}, Send{zero, block(in)}), nil, "after a local action", 1},
		{"after no send", onLast(Send{zero, block(in)}, Recv{From: one, Into: block(out), AfterSend: true}), nil, "sends rank 1 0 messages", 1},
		{"after two sends", onLast(Send{one, block(in)}, Send{one, block(in)}, Recv{From: one, Into: block(out), AfterSend: true}), nil, "sends rank 1 2 messages", 2},

		{"action outside of a step", last(Finish{block(out)}), nil, "stands outside of a Step", -1},
		{"step in a step", onLast(Step{}), nil, "a Step stands inside of a Step", -1},
		{"name without a value", last(Let{"x", v("y")}), nil, "y: is not defined here", -1},
		{"turns without a value", last(For{"i", v("x"), nil}), nil, "x: is not defined here", -1},
		{"too many turns", last(For{"i", far, nil}), nil, "turns", -1},
		{"too many turns in all", last(For{"i", shl(one, spec.Int(13)), []Node{For{"j", shl(one, spec.Int(13)), nil}}}), nil, "turns", -1},
		{"condition without a value", last(If{v("x"), nil, nil}), nil, "x: is not defined here", -1},
		{"choice without a value", last(LetBuf{"b", v("x"), in, out}), nil, "x: is not defined here", -1},
		{"no chunks", nil, func(a *Algorithm) { a.Chunks = sub(two, size) }, "a block is cut into -1 chunks", -1},
		{"too many chunks", nil, func(a *Algorithm) { a.Chunks = far }, "a block is cut into", -1},
		{"chunks without a value", nil, func(a *Algorithm) { a.Chunks = v("x") }, "x: is not defined here", -1},
		{"negative scratch", nil, func(a *Algorithm) { a.Scratch = sub(one, rank) }, "-1 slots of scratch", -1},
		{"too much scratch", nil, func(a *Algorithm) { a.Scratch = shl(one, mul(spec.Int(15), rank)) }, "slots of scratch", -1},
		{"negative buffer", nil, func(a *Algorithm) { a.Primitive.In.Blocks = sub(one, rank) }, "a buffer of -1 blocks", -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := &Algorithm{Name: "faulty", Primitive: spec.AllReduce, Body: tc.body}
			if tc.more != nil {
				tc.more(a)
			}
			_, err := Instantiate(a, Params{Size: 3, Depth: 1})
			var ne *NodeError
			if !errors.As(err, &ne) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			wholeAlgorithm := ne.Rank == 0 && (tc.body == nil || tc.name == "Like of another chunk")
			if ne.Node != tc.node || ne.Algorithm != a.FullName() || ne.Rank != 2 && !wholeAlgorithm {
				t.Errorf("the error is about action %d, rank %d of %s, want action %d", ne.Node, ne.Rank, ne.Algorithm, tc.node)
			}
		})
	}
}

func TestInstantiateRefusesCalls(t *testing.T) {
	for _, p := range []Params{
		{Size: 0, Depth: 1}, {Size: -1, Depth: 1}, {Size: 2, Root: 2, Depth: 1}, {Size: 2, Root: -1, Depth: 1},
		{Size: 2, Peer: 2, Depth: 1}, {Size: 2, Peer: -1, Depth: 1}, {Size: 2}, {Size: 2, Depth: -1},
	} {
		if _, err := Instantiate(&BroadcastChain, p); err == nil || !strings.Contains(err.Error(), "no such call") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestInstantiate is the whole of one schedule: two ranks, of which rank 0 alone has local actions.
func TestInstantiate(t *testing.T) {
	a := &Algorithm{Name: "small", Primitive: spec.AllReduce, Chunks: two, Scratch: one, Body: []Node{
		For{"i", two, []Node{Let{"peer2", sub(one, rank)}, If{eq(v("i"), rank), []Node{
			Step{Send{v("peer2"), Chunk(in, v("i"))}},
		}, []Node{
			Step{Recv{From: v("peer2"), Into: Slot(scratch, zero, v("i"))}, Recv{From: v("peer2"), Into: Span(out, zero, zero)}},
		}}}},
		If{rank, nil, []Node{Step{Copy{Into: Chunk(out, one), From: Slot(scratch, zero, one)}, Finish{Chunk(out, one)}}}},
		Step{Send{sub(one, rank), Region{}}, Recv{From: sub(one, rank)}, Finish{Span(out, zero, two)}},
	}}
	place := func(buf spec.Buf, at, like int) Place { return Place{buf, at, 1, like} }
	want := []Program{
		{In: 2, Out: 2, Scratch: 1, Instrs: []Instr{
			{Kind: SendInstr, Peer: 1, Srcs: []Place{place(in, 0, 0)}, AfterSend: -1, Step: 0, Node: 0},
			{Kind: RecvInstr, Peer: 1, Dst: place(scratch, 0, 1), AfterSend: -1, After: []int{0}, Step: 1, Node: 1},
			{Kind: CopyInstr, Dst: place(out, 1, 1), Srcs: []Place{place(scratch, 0, 1)}, AfterSend: -1, After: []int{1}, Step: 2, Node: 3},
			{Kind: FinishInstr, Dst: place(out, 1, 1), AfterSend: -1, After: []int{2}, Step: 2, Node: 4},
			{Kind: SendInstr, Peer: 1, Srcs: []Place{{}}, AfterSend: -1, After: []int{3}, Step: 3, Node: 5},
			{Kind: RecvInstr, Peer: 1, AfterSend: -1, After: []int{3}, Step: 3, Node: 6},
			{Kind: JoinInstr, AfterSend: -1, After: []int{4, 5}, Step: 3, Node: -1},
			{Kind: FinishInstr, Dst: Place{out, 0, 2, 0}, AfterSend: -1, After: []int{6}, Step: 3, Node: 7},
		}},
		{In: 2, Out: 2, Scratch: 1, Instrs: []Instr{
			{Kind: RecvInstr, Peer: 0, Dst: place(scratch, 0, 0), AfterSend: -1, Step: 0, Node: 1},
			{Kind: SendInstr, Peer: 0, Srcs: []Place{place(in, 1, 1)}, AfterSend: -1, After: []int{0}, Step: 1, Node: 0},
			{Kind: SendInstr, Peer: 0, Srcs: []Place{{}}, AfterSend: -1, After: []int{1}, Step: 2, Node: 5},
			{Kind: RecvInstr, Peer: 0, AfterSend: -1, After: []int{1}, Step: 2, Node: 6},
			{Kind: JoinInstr, AfterSend: -1, After: []int{2, 3}, Step: 2, Node: -1},
			{Kind: FinishInstr, Dst: Place{out, 0, 2, 0}, AfterSend: -1, After: []int{4}, Step: 2, Node: 7},
		}},
	}
	s := instantiate(t, a, Params{Size: 2, Depth: 1})
	if d := cmp.Diff(want, s.Ranks); d != "" || s.Chunks != 2 || s.Algorithm != "allreduce/small" {
		t.Error(d, s.Chunks, s.Algorithm)
	}
}

// TestSchedulesAreInOrder checks what Program promises, for the catalogue: an instruction comes after those it waits for,
// steps count from 0 without a gap, and what comes from an action is what the action says.
func TestSchedulesAreInOrder(t *testing.T) {
	for _, a := range Catalogue() {
		kinds := actionKinds(a.Body)
		if len(kinds) != CountActions(a.Body) {
			t.Fatalf("%s has %d actions, and not %d", a.FullName(), len(kinds), CountActions(a.Body))
		}
		for size := 1; size <= 9; size++ {
			for _, p := range a.Calls(size, 1, 2) {
				for _, program := range instantiate(t, &a, p).Ranks {
					checkOrder(t, a.FullName(), program.Instrs, kinds)
				}
			}
		}
	}
}

func checkOrder(t *testing.T, name string, instrs []Instr, kinds []Kind) {
	step := 0
	for i, in := range instrs {
		for _, j := range in.After {
			if j < 0 || j >= i {
				t.Fatalf("%s: instruction %d waits for %d", name, i, j)
			}
		}
		if in.Step != step && in.Step != step+1 || i == 0 && in.Step != 0 {
			t.Fatalf("%s: step %d comes after step %d", name, in.Step, step)
		}
		step = in.Step
		if in.Node < 0 && in.Kind != JoinInstr || in.Node >= 0 && in.Kind != kinds[in.Node] {
			t.Fatalf("%s: a %v comes from action %d", name, in.Kind, in.Node)
		}
	}
}

// actionKinds are the kinds of what nodes' actions become, in source order.
func actionKinds(nodes []Node) []Kind {
	var kinds []Kind
	for _, n := range nodes {
		switch n := n.(type) {
		case For:
			kinds = append(kinds, actionKinds(n.Body)...)
		case If:
			kinds = append(append(kinds, actionKinds(n.Then)...), actionKinds(n.Else)...)
		case Step:
			kinds = append(kinds, actionKinds(n)...)
		case Send:
			kinds = append(kinds, SendInstr)
		case Recv:
			kinds = append(kinds, RecvInstr)
		case RecvReduce:
			kinds = append(kinds, RecvReduceInstr)
		case Copy:
			kinds = append(kinds, CopyInstr)
		case Reduce:
			kinds = append(kinds, ReduceInstr)
		case Finish:
			kinds = append(kinds, FinishInstr)
		}
	}
	return kinds
}

func TestCalls(t *testing.T) {
	for _, tc := range []struct {
		a    *Algorithm
		size int
		want int
	}{
		{&AllReduceRing, 5, 1}, {&AllReduceChunkedRing, 5, 2}, {&BroadcastBinomial, 5, 5}, {&BroadcastChain, 5, 10},
		{&SendDirect, 1, 0}, {&SendDirect, 5, 20},
		{&Algorithm{Primitive: spec.Barrier, Requires: Requires{Size: spec.Le(size, two)}}, 3, 0},
	} {
		if got := tc.a.Calls(tc.size, 1, 3); len(got) != tc.want {
			t.Errorf("%s has %d calls with %d ranks, want %d: %v", tc.a.FullName(), len(got), tc.size, tc.want, got)
		}
	}
}
