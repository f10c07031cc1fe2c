package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

func TestSummary(t *testing.T) {
	halving := catalogue.AllReduceTree
	halving.Requires.Size = spec.Eq(spec.BitAnd(spec.Size, spec.Sub(spec.Size, one)), zero)
	for _, x := range []struct {
		a    gen.Algorithm
		o    verify.Options
		want verify.Summary
	}{
		{catalogue.AllReduceRing, verify.Options{From: 2, To: 4},
			verify.Summary{Sizes: []int{2, 3, 4}, Depths: []int{1}, Schedules: 3, InPlace: true, Folds: true,
				Order: spec.SameTree, Messages: 24}},
		{catalogue.AllReduceRecursiveDoubling, verify.Options{To: 2},
			verify.Summary{Sizes: []int{1, 2}, Depths: []int{1}, Schedules: 2, InPlace: true, Folds: true,
				Order: spec.RankOrdered, Capacity: 1, Messages: 2}},
		{catalogue.ReduceChain, verify.Options{To: 3, Depths: []int{1, 5}},
			verify.Summary{Sizes: []int{1, 2, 3}, Depths: []int{1, 5}, Schedules: 12, InPlace: true, Folds: true,
				Order: spec.SameTree, Scratch: 2, Messages: 10}},
		{catalogue.ReduceChain, verify.Options{From: 8, To: 9},
			verify.Summary{Sizes: []int{8, 9}, Depths: []int{1, 2, 3, 4}, Deeper: []int{5, 6, 7, 8}, Schedules: 8*8 + 9*4,
				InPlace: true,
				Folds:   true, Order: spec.SameTree, Scratch: 2, Messages: 56}},
		{catalogue.ReduceChain, verify.Options{From: 9, To: 9},
			verify.Summary{Sizes: []int{9}, Depths: []int{1, 2, 3, 4}, Schedules: 9 * 4, InPlace: true,
				Folds: true, Order: spec.SameTree, Scratch: 2, Messages: 32}},
		{catalogue.SendDirect, verify.Options{To: 3},
			verify.Summary{Sizes: []int{2, 3}, Depths: []int{1}, Schedules: 8, Messages: 1}},
		{halving, verify.Options{To: 9},
			verify.Summary{Sizes: []int{1, 2, 4, 8}, Depths: []int{1}, Schedules: 4, InPlace: true, Folds: true,
				Order: spec.SameTree, Messages: 14}},
	} {
		t.Run(x.a.FullName(), func(t *testing.T) {
			x.want.Algorithm = x.a.FullName()
			got, err := verify.Algorithm(t.Context(), &x.a, x.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestFirstFailure: the counterexample is that of the first call that fails, whichever goroutine finds one first.
func TestFirstFailure(t *testing.T) {
	a := catalogue.ReduceBinomial // wrong from size 5 on, for roots from 2 on
	edit.Set(0, func(x *gen.RecvReduce) {
		wrong := spec.And(spec.Ge(spec.Size, spec.Int(5)), spec.Ge(spec.Root, two))
		x.ReceivedFirst = spec.If(wrong, zero, x.ReceivedFirst)
	})(&a)
	for range 20 {
		_, err := verify.Algorithm(t.Context(), &a, verify.Options{To: 20})
		var f *verify.Failure
		if !errors.As(err, &f) || f.Check != verify.Order || f.Params != (gen.Params{Size: 5, Root: 2, Depth: 1}) {
			t.Fatalf("got %v", err)
		}
	}
}

// TestEveryCallIsProved has algorithms that are wrong for one size, root or depth alone: each of them is found, with
// that call. So none is counted that nobody has looked at.
func TestEveryCallIsProved(t *testing.T) {
	wrong := func(a gen.Algorithm, p gen.Params, o verify.Options) {
		t.Helper()
		is := spec.And(spec.Eq(spec.Size, spec.Int(p.Size)), spec.And(spec.Eq(spec.Root, spec.Int(p.Root)),
			spec.Eq(spec.Depth, spec.Int(p.Depth))))
		a.Body = []gen.Node{gen.If{Cond: is, Else: a.Body}}
		_, err := verify.Algorithm(t.Context(), &a, o)
		var f *verify.Failure
		if !errors.As(err, &f) || f.Params != p {
			t.Errorf("%s does nothing for %+v, and the proof ends with %v", a.FullName(), p, err)
		}
	}
	for size := 1; size <= verify.MaxSize; size++ {
		wrong(catalogue.AllGatherRing, gen.Params{Size: size, Depth: 1}, verify.Options{From: size, To: size})
	}
	wrong(catalogue.BroadcastLinear, gen.Params{Size: verify.MaxSize, Root: verify.MaxSize - 1, Depth: 1},
		verify.Options{})
	for root := range 5 {
		wrong(catalogue.BroadcastLinear, gen.Params{Size: 5, Root: root, Depth: 1}, verify.Options{To: 6})
	}
	for _, depth := range []int{1, 2, 3, 7} {
		wrong(catalogue.BroadcastChain, gen.Params{Size: 3, Depth: depth}, verify.Options{To: 4})
	}
}

// TestTriesAll has algorithms that serve more calls than are tried, each by one number, a depth or a pair of ranks.
func TestTriesAll(t *testing.T) {
	upTo := func(a gen.Algorithm, n int) *gen.Algorithm {
		a.Requires.Size = spec.And(spec.Lt(zero, spec.Size), spec.Le(spec.Size, spec.Int(n)))
		return &a
	}
	even := *upTo(catalogue.AllGatherRing, 7)
	even.Requires.Size = spec.And(even.Requires.Size, spec.Eq(spec.BitAnd(spec.Size, one), zero))
	if verify.TriesAll(&even, 5) || !verify.TriesAll(&even, 6) {
		t.Error("of even sizes up to 7, the last one is 6")
	}
	for _, x := range []struct {
		a    *gen.Algorithm
		want bool
	}{
		{upTo(catalogue.AllGatherRing, verify.MaxSize), true},
		{upTo(catalogue.AllGatherRing, verify.MaxSize+1), false},
		{&catalogue.AllGatherRing, false},
		{upTo(catalogue.BroadcastChain, verify.MaxSize), false},
		{upTo(catalogue.SendDirect, verify.MaxSize), false},
	} {
		if got := verify.TriesAll(x.a, verify.MaxSize); got != x.want {
			t.Errorf("%s for sizes with %v: %v", x.a.FullName(), x.a.Requires.Size, got)
		}
	}
}

func TestNothing(t *testing.T) {
	a := catalogue.AllReduceTree
	a.Requires.Size = zero
	for _, x := range []struct {
		a gen.Algorithm
		o verify.Options
	}{{a, verify.Options{To: 9}}, {catalogue.SendDirect, verify.Options{To: 1}},
		{catalogue.AllReduceTree, verify.Options{From: 3, To: 2}}} {
		if s, err := verify.Algorithm(t.Context(), &x.a, x.o); !errors.Is(err, verify.ErrNothing) || s.Schedules != 0 {
			t.Errorf("%s: %+v, %v", x.a.FullName(), s, err)
		}
	}
}

func TestCancel(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	_, err := verify.Algorithm(ctx, &catalogue.BroadcastBinomial, verify.Options{To: 30, Progress: func(done, total int) {
		if calls++; done != calls || total != 30*31/2 {
			t.Errorf("%d of %d done, at call %d", done, total, calls)
		}
		if done == 10 {
			cancel(stop)
		}
	}})
	if !errors.Is(err, stop) || calls > 20 {
		t.Errorf("got %v after %d schedules", err, calls)
	}
}

// TestSchedules: of each size as many schedules are proved as there are calls: every root at every depth, and every
// pair up to AllPairs. Beyond, each root is proved with at most six peers, its neighbours among them.
func TestSchedules(t *testing.T) {
	for size := 1; size <= verify.MaxSize; size++ {
		depths, fewest, most := 4, size*4, size*6
		if size <= verify.ManyDepths {
			depths = 8
		}
		if size <= verify.AllPairs {
			fewest, most = size*(size-1), size*(size-1)
		}
		for _, x := range []struct {
			a        gen.Algorithm
			from, to int
		}{
			{catalogue.BarrierDissemination, 1, 1},
			{catalogue.BroadcastLinear, size, size},
			{catalogue.BroadcastChain, size * depths, size * depths},
			{catalogue.SendDirect, fewest, most},
		} {
			got, err := verify.Algorithm(t.Context(), &x.a, verify.Options{From: size, To: size})
			if x.from == 0 && errors.Is(err, verify.ErrNothing) {
				continue
			}
			if err != nil || got.Schedules < x.from || got.Schedules > x.to {
				t.Errorf("%s: %d schedules of %d ranks, want %d to %d: %v", x.a.FullName(), got.Schedules, size, x.from, x.to, err)
			}
		}
	}
}

// TestWrongOnce: an algorithm that is wrong for one call alone is refused with that call, whichever size it has.
func TestWrongOnce(t *testing.T) {
	for size := 2; size <= verify.MaxSize; size++ {
		for _, x := range []struct {
			a     gen.Algorithm
			wrong gen.Params
		}{
			{catalogue.BroadcastLinear, gen.Params{Size: size, Root: size - 1, Depth: 1}},
			{catalogue.BroadcastChain, gen.Params{Size: size, Root: size / 2, Depth: 4}},
			{catalogue.SendDirect, gen.Params{Size: size, Root: size - 1, Peer: 0, Depth: 1}},
		} {
			here := spec.And(spec.Eq(spec.Size, spec.Int(size)), spec.Eq(spec.Root, spec.Int(x.wrong.Root)))
			if x.wrong.Depth > 1 {
				here = spec.And(here, spec.Eq(spec.Depth, spec.Int(x.wrong.Depth)))
			}
			if x.a.Name == catalogue.SendDirect.Name {
				here = spec.And(here, spec.Eq(spec.Peer, spec.Int(x.wrong.Peer)))
			}
			x.a.Body = []gen.Node{gen.If{Cond: here, Else: x.a.Body}}
			_, err := verify.Algorithm(t.Context(), &x.a, verify.Options{From: size, To: size})
			var f *verify.Failure
			if !errors.As(err, &f) || f.Params != x.wrong {
				t.Errorf("%s, wrong for %+v: %v", x.a.FullName(), x.wrong, err)
			}
		}
	}
}

// TestJSON: a summary and a failure can be read by other programs.
func TestJSON(t *testing.T) {
	s, err := verify.Algorithm(t.Context(), &catalogue.AllReduceOneShot, verify.Options{To: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"algorithm":"allreduce/one-shot","sizes":[1,2],"depths":[1],"schedules":2,"inPlace":true,"folds":true,` +
		`"order":"left fold in rank order","capacity":0,"scratch":2,"messages":2}`
	if got, err := json.Marshal(s); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	a := catalogue.AllReduceOneShot
	edit.Drop[gen.Finish](0)(&a)
	_, err = verify.Algorithm(t.Context(), &a, verify.Options{To: 2})
	var f *verify.Failure
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil || fields["check"] != "finish" || fields["got"] != "in0[0]" {
		t.Errorf("%s", data)
	}
}

// TestNoSchedule: the error of an algorithm that cannot be instantiated is found in the failure.
func TestNoSchedule(t *testing.T) {
	a := catalogue.AllGatherRing
	edit.Let("prev", 0, func(x *gen.Let) { x.Is = spec.Sub(spec.Rank, one) })(&a)
	_, err := verify.Algorithm(t.Context(), &a, verify.Options{To: 3})
	var node *gen.NodeError
	var f *verify.Failure
	if !errors.As(err, &node) || !errors.As(err, &f) || f.Node != node.Node || f.Rank != node.Rank {
		t.Errorf("got %v", err)
	}
	if slices.Contains([]int{f.Params.Size, f.Rank}, -1) {
		t.Errorf("a failure of nobody: %+v", f)
	}
}
