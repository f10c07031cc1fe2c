package exec

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestRequestsInTurn: requests in turn are prepared once, unless there are too many of them, and no buffer is kept.
func TestRequestsInTurn(t *testing.T) {
	k := &Collective{Name: "Even", Algorithms: []Algorithm{{Name: "only", Proved: Proved{Sizes: 64},
		Run: func(context.Context, *Call) error { return nil }}}}
	for calls, once := range []bool{1: true, 2: true, 3: true, 4: true, 5: false} {
		var e Executor
		e.SetUp(0, 2, nil)
		for round := range 3 {
			for count := 1; count <= calls; count++ {
				r, err := e.Request(k, spec.TypeInt32, &Args{Count: count}, make([]byte, 4), make([]byte, 4), nil, nil)
				if err != nil || r.Args.Count != count {
					t.Fatalf("call %d of %d in round %d: %v, %v", count, calls, round, r, err)
				}
				e.ForgetBuffers()
			}
		}
		if calls > 0 && (e.generations == uint64(calls)) != once {
			t.Errorf("%d calls in turn, three times: prepared %d times", calls, e.generations)
		}
		for _, r := range e.recent {
			if r != nil && (r.Dst != nil || r.Src != nil) {
				t.Errorf("%d calls in turn: buffers of one are kept", calls)
			}
		}
	}
}

// TestRepeatedRequest: a request is what its arguments say, whatever was requested before it.
func TestRepeatedRequest(t *testing.T) {
	type request struct {
		k          *Collective
		elem       spec.Type
		args       Args
		dsts, srcs int // bytes
		of         *BlocksOf
		opts       []Option
	}
	run := func(context.Context, *Call) error { return nil }
	algorithms := []Algorithm{{Name: "only", AtOnce: true, Proved: Proved{Sizes: 64}, Run: run}}
	sums := &Collective{Name: "Sums", Reduces: true, Algorithms: algorithms}
	even := &Collective{Name: "Even", Algorithms: algorithms}
	same := &Collective{Name: "Same", Uneven: true, SameCounts: true, Algorithms: algorithms}
	own := &Collective{Name: "Own", Uneven: true, Algorithms: algorithms}
	blocks := func(displs []int, counts ...int) Blocks { return Blocks{Counts: counts, Displs: displs} }
	requests := []request{{k: even, elem: spec.TypeInt32, args: Args{Count: 3}, dsts: 24, srcs: 12}}
	for _, k := range []*Collective{same, own} {
		for _, dst := range []Blocks{
			blocks(nil, 1, 2), blocks(nil, 2, 1), blocks([]int{}, 1, 2), blocks([]int{0, 1}, 1, 2), blocks([]int{2, 0}, 1, 2),
			blocks(nil, 1, 1), blocks(nil, 1, -1), blocks([]int{0, 3}, 1, 2),
		} {
			for _, x := range []request{
				{dsts: 12, srcs: 8}, {dsts: 16, srcs: 8}, {dsts: 12, srcs: 4}, {elem: spec.TypeInt16, dsts: 12, srcs: 8},
				{args: Args{Root: 1}, dsts: 12, srcs: 8}, {args: Args{Root: 2}, dsts: 12, srcs: 8},
				{args: Args{AliasOut: 1}, dsts: 12, srcs: 8},
			} {
				x.k, x.of, x.elem = k, &BlocksOf{Dst: dst}, cmp.Or(x.elem, spec.TypeInt32)
				requests = append(requests, x)
			}
			requests = append(requests,
				request{k: k, elem: spec.TypeInt32, dsts: 12, srcs: 12, of: &BlocksOf{Dst: dst, Src: blocks(nil, 2, 1)}},
				request{k: k, elem: spec.TypeInt32, dsts: 12, srcs: 12, of: &BlocksOf{Dst: dst, Src: blocks(nil, 1, 2)}})
		}
	}
	for _, opt := range []Option{{Kind: LabelOption, Name: "a"}, {Kind: ReproducibleOption}} {
		for _, x := range []request{
			{k: sums, elem: spec.TypeFloat32, args: Args{Count: 3, Op: spec.OpSum}, dsts: 12, srcs: 12},
			{k: same, elem: spec.TypeInt32, dsts: 12, srcs: 8, of: &BlocksOf{Dst: blocks(nil, 1, 2)}},
		} {
			with := x
			with.opts = []Option{opt}
			requests = append(requests, x, with)
		}
	}
	asked := func(e *Executor, x request) string {
		r, err := e.Request(x.k, x.elem, &x.args, make([]byte, x.dsts), make([]byte, x.srcs), x.of, x.opts)
		if err != nil {
			return err.Error()
		}
		words := fmt.Sprint(r.Collective.Name, r.Type, r.Args, r.lengths, len(r.Dst), len(r.Src), r.label, r.kind, r.desc)
		if r.blocks != nil {
			words += fmt.Sprint(r.blocks.dst, r.blocks.src, r.blocks.common, r.blocks.longest)
		}
		return words
	}
	refused := 0
	for i, first := range requests {
		for j, second := range requests {
			var fresh, used Executor
			fresh.SetUp(0, 2, nil)
			used.SetUp(0, 2, nil)
			want, again := asked(&fresh, second), asked(&fresh, second)
			before := asked(&used, first)
			if got := asked(&used, second); got != want || again != want {
				t.Fatalf("request %d after %d (%s): %s, after itself %s, alone %s", j, i, before, got, again, want)
			}
			if after := asked(&used, first); after != before {
				t.Fatalf("request %d after %d: %s, before it %s", i, j, after, before)
			}
			if second.of != nil && fresh.last.blocks == nil {
				refused++
			}
		}
	}
	if refused == 0 || refused == len(requests)*len(requests) {
		t.Errorf("%d of %d requests are refused", refused, len(requests)*len(requests))
	}
}
