package interp_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify/interp"
)

// TestRunUneven: every algorithm of uneven blocks, run on integers, gives what the reference gives: with no elements in
// any block, in none of some ranks, and in some.
func TestRunUneven(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		if !a.Primitive.IsUneven() {
			continue
		}
		t.Run(a.FullName(), rapid.MakeCheck(func(t *rapid.T) {
			c := spectest.Calls(a.Primitive).Draw(t, "call")
			e, err := spec.Expect(a.Primitive, c)
			if err != nil {
				t.Fatal(err)
			}
			most := rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "most")
			row := rapid.SliceOfN(rapid.IntRange(0, most), c.Size, c.Size)
			x := spectest.Example{Counts: rapid.SliceOfN(row, c.Size, c.Size).Draw(t, "counts")}
			in, out, next := make([][]int64, c.Size), make([][]int64, c.Size), int64(1)
			for rank, r := range e.Ranks {
				in[rank] = make([]int64, x.Start(r.InLengths, len(r.In)))
				out[rank] = make([]int64, x.Start(r.OutLengths, len(r.Out)))
				for i := range in[rank] {
					in[rank][i] = next
					next = next*7 + 3
				}
			}
			want, err := ref.Call[int64]{In: in, Op: spec.OpSum, Root: c.Root, Peer: c.Peer,
				Counts: x.Counts}.Run(a.Primitive.Name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := gen.Instantiate(&a, gen.Params{Size: c.Size, Root: c.Root, Peer: c.Peer, Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := interp.RunUneven(s, func(l spec.Length) int { return x.Counts[l[0]][l[1]] }, in, out, sums); err != nil {
				t.Fatal(err)
			}
			for rank := range want {
				if !slices.Equal(want[rank], out[rank]) {
					t.Errorf("rank %d: got %v, want %v", rank, out[rank], want[rank])
				}
			}
		}))
	}
}

// TestRunUnevenErrors: a buffer that does not fit the counts is an error.
func TestRunUnevenErrors(t *testing.T) {
	s, err := gen.Instantiate(&catalogue.AllGatherVRing, gen.Params{Size: 2, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := func(l spec.Length) int { return l[0] + 1 }
	err = interp.RunUneven(s, n, [][]int64{{1}, {2, 3}}, [][]int64{make([]int64, 3), make([]int64, 2)}, sums)
	if err == nil || !strings.Contains(err.Error(), "rank 1: out of 2 elements does not fit allgatherv/ring, "+
		"which wants 3") {
		t.Error(err)
	}
}
