package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

// TestContributors: the ranks that a page says have contributed to a chunk are those of the leaves of its tree.
func TestContributors(t *testing.T) {
	inner := 0
	schedules(t, []int{2, 3, 5}, func(s *gen.Schedule) {
		for _, inPlace := range []bool{false, true} {
			d, err := New(s, inPlace)
			if err != nil {
				t.Fatal(err)
			}
			leaves := make([]map[int]bool, len(d.Inner)/2)
			for i := range leaves {
				if d.Inner[2*i] == Met { // it stands for ranks, and is no tree
					continue
				}
				inner++
				leaves[i] = map[int]bool{}
				for _, child := range d.Inner[2*i : 2*i+2] {
					d.addLeaves(leaves[i], child, leaves)
				}
				if got := d.Ranks(d.Cells + i); len(got) != len(leaves[i]) || !slices.IsSorted(got) ||
					slices.ContainsFunc(got, func(r int) bool { return !leaves[i][r] }) {
					t.Fatalf("%s, %s: node %d has the ranks %v, its leaves %v", s.Algorithm, d.Call, i, got, leaves[i])
				}
			}
		}
	})
	if inner < 1000 {
		t.Errorf("%d nodes were compared", inner)
	}
}

// addLeaves adds the ranks of a node's leaves to a set; earlier has those of inner nodes.
func (d *Data) addLeaves(set map[int]bool, node int, earlier []map[int]bool) {
	switch {
	case node >= d.Cells:
		for rank := range earlier[node-d.Cells] {
			set[rank] = true
		}
	case node >= 0:
		if in := d.Buffers[0]; !slices.Contains(d.Undefined, node) {
			for rank, base := range in.Base {
				if node >= base && node < base+in.Len[rank] {
					set[rank] = true
				}
			}
		}
	}
}

// TestSince: clauses hold from the very moment on at which the last chunk of a rank has arrived.
func TestSince(t *testing.T) {
	for _, tc := range []struct {
		a    *gen.Algorithm
		p    gen.Params
		want [][]int // by clause and rank
	}{
		{&catalogue.AllReduceRing, gen.Params{Size: 4, Depth: 1}, [][]int{{6, 6, 6, 6}, {0, 0, 0, 0}}},
		{&catalogue.ReduceScatterRing, gen.Params{Size: 4, Depth: 1}, [][]int{{3, 3, 3, 3}, {0, 0, 0, 0}}},
		{&catalogue.BroadcastBinomial, gen.Params{Size: 4, Depth: 1}, [][]int{{2, 2, 1, 2}, {0, 0, 0, 0}}},
		{&catalogue.ScanChain, gen.Params{Size: 4, Depth: 1}, [][]int{{3, 3, 3, 3}, {0, 0, 0, 0}}},
		{&catalogue.BarrierDissemination, gen.Params{Size: 4, Depth: 1}, [][]int{{2, 2, 2, 2}, {0, 0, 0, 0}}},
		{&catalogue.GatherLinear, gen.Params{Size: 3, Root: 1, Depth: 1}, [][]int{{Silent, 1, Silent}, {0, 0, 0}}},
	} {
		d, err := Of(tc.a, tc.p, false)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]int
		for _, c := range d.Clauses {
			got = append(got, c.Since)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.a.FullName(), diff)
		}
	}
}

// TestMessages: the messages of a page are those of the schedule, with the places that they are taken from and go to.
func TestMessages(t *testing.T) {
	flags := map[int]int{}
	schedules(t, []int{3, 4}, func(s *gen.Schedule) {
		d, err := New(s, false)
		if err != nil {
			t.Fatal(err)
		}
		var want, got [][]int
		for _, m := range s.Messages() {
			from, in := s.Ranks[m.From].Instrs[m.Send].Srcs[0], &s.Ranks[m.To].Instrs[m.Recv]
			with, flag := gen.Place{}, 0
			if in.Kind == gen.RecvReduceInstr {
				with, flag = in.Srcs[0], 1
				if in.ReceivedFirst {
					flag = 3
				}
			}
			want = append(want, []int{m.From, m.To, slices.Index(bufs, from.Buf), from.At, slices.Index(bufs, in.Dst.Buf),
				in.Dst.At, in.Dst.N, flag, slices.Index(bufs, with.Buf), with.At})
			flags[flag]++
		}
		for m := range slices.Chunk(d.Messages, messageFields) {
			got = append(got, slices.Concat(m[:2], m[4:]))
			if m[2] > m[3] || m[3] >= d.Rounds {
				t.Errorf("%s: a message is sent in round %d and received in %d", s.Algorithm, m[2], m[3])
			}
		}
		slices.SortFunc(want, slices.Compare)
		slices.SortFunc(got, slices.Compare)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s, %s: %s", s.Algorithm, d.Call, diff)
		}
	})
	if flags[0] == 0 || flags[1] == 0 || flags[3] == 0 {
		t.Errorf("messages by their flags: %v", flags)
	}
}

// TestHeld: the cells of in and out that are one place in place are shown as one.
func TestHeld(t *testing.T) {
	for _, tc := range []struct {
		a    *gen.Algorithm
		want [][2]int // of rank 1, by place: the chunk of out and that of in; -1: none
	}{
		{&catalogue.AllReduceRing, [][2]int{{0, 0}, {1, 1}, {2, 2}}},
		{&catalogue.AllGatherRing, [][2]int{{0, -1}, {1, 0}, {2, -1}}},
		{&catalogue.ReduceScatterRing, [][2]int{{-1, 0}, {0, 1}, {-1, 2}}},
		{&catalogue.AllToAllDirect, [][2]int{{0, 0}, {1, 1}, {2, 2}}},
	} {
		for _, inPlace := range []bool{false, true} {
			d, err := Of(tc.a, gen.Params{Size: 3, Depth: 1}, inPlace)
			if err != nil {
				if inPlace {
					continue // it cannot be
				}
				t.Fatal(err)
			}
			got := [][2]int{}
			for pair := range slices.Chunk(d.Held[1], 2) {
				at := [2]int{-1, -1}
				for i, buf := range []int{1, 0} {
					if pair[i] >= 0 {
						at[i] = pair[i] - d.Buffers[buf].Base[1]
					}
				}
				if inPlace && pair[0] >= 0 && pair[1] >= 0 && pair[0] != pair[1] {
					t.Errorf("%s, in place: cells %d and %d are not one", tc.a.FullName(), pair[0], pair[1])
				}
				got = append(got, at)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s, in place %t: %s", tc.a.FullName(), inPlace, diff)
			}
		}
	}
}

// TestUndefined: what holds nothing that is known before the call is shown as empty.
func TestUndefined(t *testing.T) {
	s, err := gen.Instantiate(&catalogue.BroadcastLinear, gen.Params{Size: 3, Root: 1, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	isRoot := s.Primitive.In.On
	s.Primitive.In.On = spec.Expr{} // all ranks pass a block in, and that of the root alone is an input
	s.Primitive.InPlace = spec.InPlace{}
	s.Primitive.Pre = []spec.Clause{{Buf: spec.In, Where: isRoot, Value: s.Primitive.Pre[0].Value}}
	for r := range s.Ranks {
		s.Ranks[r].In = s.Chunks
	}
	d, err := New(s, false)
	if err != nil || d.Failure != nil {
		t.Fatalf("%v, %+v", err, d)
	}
	for rank, base := range d.Buffers[0].Base {
		want := rank == 1
		if got := d.Ranks(base); (len(got) == 1) != want || slices.Contains(d.Undefined, base) == want {
			t.Errorf("the block that rank %d passes in has the data of %v; undefined are %v", rank, got, d.Undefined)
		}
	}
}

// TestStuck: a receive without its message is where its step is.
func TestStuck(t *testing.T) {
	text := planOf(t, &catalogue.AllReduceRing, gen.Params{Size: 3, Depth: 1})
	text = strings.Replace(text, `{"send":"in[0]","to":1},`, "", 1)
	d, err := OfPlan(strings.NewReader(text), spec.Primitives(), false)
	if err != nil {
		t.Fatal(err)
	}
	// Rank 1 has five steps, and receives one message too few, so it waits in the last of them.
	if diff := cmp.Diff([]Stuck{{Rank: 1, Round: 4, Text: "recv out[0] from 0"}}, d.Stuck); diff != "" {
		t.Error(diff)
	}
}
