package gen_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// TestMostRanks: no condition but an upper limit of the size, by itself or beside others, says how many ranks are
// served.
func TestMostRanks(t *testing.T) {
	size, n := spec.Size, spec.Int
	four := spec.Le(size, n(4))
	for _, x := range []struct {
		is   spec.Expr
		most int
		ok   bool
	}{
		{four, 4, true}, {spec.And(four, spec.Le(size, n(3))), 3, true}, {spec.And(spec.Lt(n(1), size), four), 4, true},
		{spec.And(four, spec.Lt(n(1), size)), 4, true}, {spec.Expr{}, 0, false}, {spec.Or(four, spec.Lt(n(1), size)), 0,
			false},
		{spec.Le(n(4), size), 0, false}, {spec.Not(four), 0, false}, {spec.Le(spec.Local, n(4)), 0, false},
		{spec.Lt(size, n(4)), 0, false},
	} {
		a := gen.Algorithm{Requires: gen.Requires{Size: x.is}}
		if most, ok := a.MostRanks(); most != x.most || ok != x.ok {
			t.Errorf("sizes with %v: %d, %v", x.is, most, ok)
		}
	}
}

// TestInstantiateFindsFaults makes algorithms with one action that is wrong on some rank of three; want is what the
// error says, and rank and node what it is about.
func TestInstantiateFindsFaults(t *testing.T) {
	last := func(nodes ...gen.Node) []gen.Node { return []gen.Node{when(eq(rank, two), nodes, nil)} }
	onLast := func(actions ...gen.Node) []gen.Node { return last(gen.Step(actions)) }
	cut := func(a *gen.Algorithm) { a.Chunks, a.Scratch = two, two }
	far := spec.Int(1 << 30)
	for _, tc := range []struct {
		name string
		body []gen.Node
		more func(*gen.Algorithm)
		want string
		node int
	}{
		{"peer below the ranks", onLast(send(sub(rank, spec.Int(3)), block(in))), nil, "peer rank - 3 is -1, with 3 ranks",
			0},
		{"peer above the ranks", onLast(gen.Recv{From: add(rank, one), Into: block(out)}), nil,
			"peer rank + 1 is 3, with 3 ranks", 0},
		{"peer is the rank", onLast(send(rank, block(in))), nil, "peer rank is the rank itself", 0},
		{"peer without a value", onLast(send(v("x"), block(in))), nil, "x: is not defined here", 0},
		{"place below the buffer", onLast(send(zero, gen.Chunk(in, sub(zero, one)))), nil,
			"in[-1] is out of range: the buffer has 1", 0},
		{"place above the buffer", onLast(send(zero, block(in)), send(one, gen.Chunk(in, one))), nil, "in[1] is out of range",
			1},
		{"place too long", onLast(send(zero, gen.Span(in, zero, two))), nil, "in[0..2) is out of range", 0},
		{"negative length", onLast(send(zero, gen.Span(in, one, spec.Int(-1)))), nil, "is out of range", 0},
		{"length that overflows", onLast(send(zero, gen.Span(in, one, spec.Int(math.MaxInt)))), nil, "is out of range", 0},
		{"place without a value", onLast(finish(gen.Chunk(out, log2(zero)))), nil, "logarithm of 0", 0},
		{"division by 0", onLast(finish(gen.Chunk(out, spec.Div(one, sub(rank, two))))), nil, "1 / (rank - 2): division by 0",
			0},
		{"negative dividend", onLast(finish(gen.Chunk(out, spec.Mod(sub(zero, rank), two)))), nil,
			"(0 - rank) % 2: division of -2", 0},
		{"length without a value", onLast(finish(gen.Span(out, zero, shl(one, far)))), nil, "shift by", 0},
		{"buffer that the rank does not pass", onLast(finish(block(out))),
			func(a *gen.Algorithm) { a.Primitive = spec.Reduce }, "the buffer has 0", 0},
		{"unknown buffer", onLast(finish(gen.Span("data", zero, zero))), nil, `no buffer "data"`, 0},
		{"no data", onLast(gen.Copy{Into: block(out)}), nil, `no buffer ""`, 0},
		{"With out of range", onLast(gen.RecvReduce{From: zero, Into: block(out), With: gen.Chunk(in, one)}), nil,
			"in[1] is out of range", 0},
		{"order without a value", onLast(gen.RecvReduce{From: zero, Into: block(out), With: block(in),
			ReceivedFirst: v("x")}), nil, "x: is not", 0},
		{"source of another length", onLast(gen.Copy{Into: block(out), From: gen.Span(in, zero, zero)}), nil,
			"out[0] and in[0..0) differ in length", 0},
		{"source as long as another chunk", onLast(gen.Copy{Into: block(out), From: gen.Chunk(in, one)}), cut,
			"out[0] and in[1] differ in length", 0},
		{"operand of another length", onLast(reduce(block(out), "i", two, gen.Span(in, zero, v("i")))), nil,
			"differ in length", 0},
		{"operand out of range", onLast(reduce(block(out), "i", two, gen.Chunk(in, v("i")))), nil, "in[1] is out of range",
			0},
		{"no operands", onLast(reduce(block(out), "i", zero, block(in))), nil, "a reduction of 0 operands", 0},
		{"too many operands", onLast(reduce(block(out), "i", far, block(in))), nil, "operands", 0},
		{"number of operands without a value", onLast(reduce(block(out), "i", v("x"), block(in))), nil, "x: is not defined",
			0},
		{"slot without Like", onLast(finish(block(scratch))), cut, "needs Like", 0},
		{"several slots", onLast(finish(region(scratch, zero, two, zero))), cut, "more than one slot", 0},
		{"negative Like", onLast(finish(gen.Slot(scratch, zero, sub(zero, one)))), cut, "Like is -1", 0},
		{"Like without a value", onLast(finish(gen.Slot(scratch, zero, v("x")))), cut, "x: is not defined", 0},
		{"Like of another chunk", []gen.Node{letBuf("b", one, out, scratch), gen.Step{finish(gen.Slot("b", zero, one))}}, cut,
			"out[0] is not like chunk 1", 0},
		{"message after a local action", onLast(gen.Copy{Into: block(out), From: block(in)}, send(zero, block(in))), nil,
			"after a local action", 1},
		{"after no send", onLast(send(zero, block(in)), gen.Recv{From: one, Into: block(out), AfterSend: true}), nil,
			"sends rank 1 0 messages", 1},
		{"after two sends", onLast(send(one, block(in)), send(one, block(in)), gen.Recv{From: one, Into: block(out),
			AfterSend: true}), nil, "sends rank 1 2 messages", 2},

		{"action outside of a step", last(finish(block(out))), nil, "is outside a Step", -1},
		{"step in a step", onLast(gen.Step{}), nil, "a Step is inside another Step", -1},
		{"name without a value", last(let("x", v("y"))), nil, "y: is not defined here", -1},
		{"turns without a value", last(loop("i", v("x"), nil)), nil, "x: is not defined here", -1},
		{"too many turns", last(loop("i", far, nil)), nil, "turns", -1},
		{"too many turns in all", last(loop("i", shl(one, spec.Int(13)), []gen.Node{loop("j", shl(one, spec.Int(13)), nil)})),
			nil, "turns", -1},
		{"turns of a fold without a value", last(fold1(v("x"), one, one)), nil, "x: is not defined here", -1},
		{"first number without a value", last(fold1(one, log2(zero), one)), nil, "logarithm of 0", -1},
		{"next number without a value", last(fold1(one, one, log2(zero))), nil, "logarithm of 0", -1},
		{"too many turns of folds", last(loop("i", shl(one, spec.Int(13)), []gen.Node{fold1(shl(one, spec.Int(13)), one,
			one)})), nil, "turns", -1},
		{"step in a fold", last(fold(number("x", one), gen.Step{})), nil, "gen.Step is inside a Fold", -1},
		{"condition without a value", last(when(v("x"), nil, nil)), nil, "x: is not defined here", -1},
		{"choice without a value", last(letBuf("b", v("x"), in, out)), nil, "x: is not defined here", -1},
		{"no chunks", nil, func(a *gen.Algorithm) { a.Chunks = sub(two, size) }, "a block is cut into -1 chunks", -1},
		{"too many chunks", nil, func(a *gen.Algorithm) { a.Chunks = far }, "a block is cut into", -1},
		{"chunks without a value", nil, func(a *gen.Algorithm) { a.Chunks = v("x") }, "x: is not defined here", -1},
		{"negative scratch", nil, func(a *gen.Algorithm) { a.Scratch = sub(one, rank) }, "-1 slots of scratch", -1},
		{"too much scratch", nil, func(a *gen.Algorithm) { a.Scratch = shl(one, mul(spec.Int(15), rank)) },
			"slots of scratch", -1},
		{"negative buffer", nil, func(a *gen.Algorithm) { a.Primitive.In.Blocks = sub(one, rank) }, "a buffer of -1 blocks",
			-1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := &gen.Algorithm{Name: "faulty", Primitive: spec.AllReduce, Body: tc.body}
			if tc.more != nil {
				tc.more(a)
			}
			_, err := gen.Instantiate(a, gen.Params{Size: 3, Depth: 1})
			var ne *gen.NodeError
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
	for _, p := range []gen.Params{
		{Size: 0, Depth: 1}, {Size: -1, Depth: 1}, {Size: 2, Root: 2, Depth: 1}, {Size: 2, Root: -1, Depth: 1},
		{Size: 2, Peer: 2, Depth: 1}, {Size: 2, Peer: -1, Depth: 1}, {Size: 2}, {Size: 2, Depth: -1},
	} {
		if _, err := gen.Instantiate(&catalogue.BroadcastChain, p); err == nil || !strings.Contains(err.Error(),
			"no such call") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestInstantiate is the whole of one schedule: two ranks, of which rank 0 alone has local actions.
func TestInstantiate(t *testing.T) {
	a := &gen.Algorithm{Name: "small", Primitive: spec.AllReduce, Chunks: two, Scratch: one, Body: []gen.Node{
		loop("i", two, []gen.Node{let("peer2", sub(one, rank)), when(eq(v("i"), rank), []gen.Node{
			gen.Step{send(v("peer2"), gen.Chunk(in, v("i")))},
		}, []gen.Node{
			gen.Step{gen.Recv{From: v("peer2"), Into: gen.Slot(scratch, zero, v("i"))},
				gen.Recv{From: v("peer2"), Into: gen.Span(out, zero, zero)}},
		})}),
		when(rank, nil, []gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(out, one), From: gen.Slot(scratch, zero, one)},
			finish(gen.Chunk(out, one))}}),
		gen.Step{send(sub(one, rank), gen.Region{}), gen.Recv{From: sub(one, rank)}, finish(gen.Span(out, zero, two))},
	}}
	place := func(buf spec.Buf, at, like int) gen.Place { return gen.Place{Buf: buf, At: at, N: 1, Like: like} }
	want := []gen.Program{
		{In: 2, Out: 2, Scratch: 1, Instrs: []gen.Instr{
			{Kind: gen.SendInstr, Peer: 1, Srcs: []gen.Place{place(in, 0, 0)}, AfterSend: -1, Step: 0, Node: 0},
			{Kind: gen.RecvInstr, Peer: 1, Dst: place(scratch, 0, 1), AfterSend: -1, After: []int{0}, Step: 1, Node: 1},
			{Kind: gen.CopyInstr, Dst: place(out, 1, 1), Srcs: []gen.Place{place(scratch, 0, 1)}, AfterSend: -1, After: []int{1},
				Step: 2, Node: 3},
			{Kind: gen.FinishInstr, Dst: place(out, 1, 1), AfterSend: -1, After: []int{2}, Step: 2, Node: 4},
			{Kind: gen.SendInstr, Peer: 1, Srcs: []gen.Place{{}}, AfterSend: -1, After: []int{3}, Step: 3, Node: 5},
			{Kind: gen.RecvInstr, Peer: 1, AfterSend: -1, After: []int{3}, Step: 3, Node: 6},
			{Kind: gen.JoinInstr, AfterSend: -1, After: []int{4, 5}, Step: 3, Node: -1},
			{Kind: gen.FinishInstr, Dst: gen.Place{Buf: out, At: 0, N: 2, Like: 0}, AfterSend: -1, After: []int{6}, Step: 3,
				Node: 7},
		}},
		{In: 2, Out: 2, Scratch: 1, Instrs: []gen.Instr{
			{Kind: gen.RecvInstr, Peer: 0, Dst: place(scratch, 0, 0), AfterSend: -1, Step: 0, Node: 1},
			{Kind: gen.SendInstr, Peer: 0, Srcs: []gen.Place{place(in, 1, 1)}, AfterSend: -1, After: []int{0}, Step: 1, Node: 0},
			{Kind: gen.SendInstr, Peer: 0, Srcs: []gen.Place{{}}, AfterSend: -1, After: []int{1}, Step: 2, Node: 5},
			{Kind: gen.RecvInstr, Peer: 0, AfterSend: -1, After: []int{1}, Step: 2, Node: 6},
			{Kind: gen.JoinInstr, AfterSend: -1, After: []int{2, 3}, Step: 2, Node: -1},
			{Kind: gen.FinishInstr, Dst: gen.Place{Buf: out, At: 0, N: 2, Like: 0}, AfterSend: -1, After: []int{4}, Step: 2,
				Node: 7},
		}},
	}
	s := instantiate(t, a, gen.Params{Size: 2, Depth: 1})
	if d := cmp.Diff(want, s.Ranks); d != "" || s.Chunks != 2 || s.Algorithm != "allreduce/small" {
		t.Error(d, s.Chunks, s.Algorithm)
	}
}

// TestSchedulesAreInOrder checks what Program promises, for the catalogue: an instruction comes after those it waits
// for, steps count from 0 without a gap, and what comes from an action is what the action says.
func TestSchedulesAreInOrder(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		kinds := actionKinds(a.Body)
		if len(kinds) != gen.CountActions(a.Body) {
			t.Fatalf("%s has %d actions, and not %d", a.FullName(), len(kinds), gen.CountActions(a.Body))
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

func checkOrder(t *testing.T, name string, instrs []gen.Instr, kinds []gen.Kind) {
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
		if in.Node < 0 && in.Kind != gen.JoinInstr || in.Node >= 0 && in.Kind != kinds[in.Node] {
			t.Fatalf("%s: a %v comes from action %d", name, in.Kind, in.Node)
		}
	}
}

// actionKinds returns the kinds of what nodes' actions become, in source order.
func actionKinds(nodes []gen.Node) []gen.Kind {
	var kinds []gen.Kind
	for _, n := range nodes {
		switch n := n.(type) {
		case gen.For:
			kinds = append(kinds, actionKinds(n.Body)...)
		case gen.If:
			kinds = append(append(kinds, actionKinds(n.Then)...), actionKinds(n.Else)...)
		case gen.Step:
			kinds = append(kinds, actionKinds(n)...)
		case gen.Send:
			kinds = append(kinds, gen.SendInstr)
		case gen.Recv:
			kinds = append(kinds, gen.RecvInstr)
		case gen.RecvReduce:
			kinds = append(kinds, gen.RecvReduceInstr)
		case gen.Copy:
			kinds = append(kinds, gen.CopyInstr)
		case gen.Reduce:
			kinds = append(kinds, gen.ReduceInstr)
		case gen.Finish:
			kinds = append(kinds, gen.FinishInstr)
		}
	}
	return kinds
}

func TestCalls(t *testing.T) {
	for _, tc := range []struct {
		a    *gen.Algorithm
		size int
		want int
	}{
		{&catalogue.AllReduceRing, 5, 1}, {&catalogue.AllReduceChunkedRing, 5, 2}, {&catalogue.BroadcastBinomial, 5, 5},
		{&catalogue.BroadcastChain, 5, 10},
		{&catalogue.SendDirect, 1, 0}, {&catalogue.SendDirect, 5, 20},
		{&gen.Algorithm{Primitive: spec.Barrier, Requires: gen.Requires{Size: spec.Le(size, two)}}, 3, 0},
	} {
		if got := tc.a.Calls(tc.size, 1, 3); len(got) != tc.want {
			t.Errorf("%s has %d calls with %d ranks, want %d: %v", tc.a.FullName(), len(got), tc.size, tc.want, got)
		}
	}
}
