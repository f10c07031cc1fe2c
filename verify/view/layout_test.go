package view

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/google/go-cmp/cmp"
)

// TestLayout: ranks are placed by what the schedule does.
func TestLayout(t *testing.T) {
	for _, tc := range []struct {
		a    *gen.Algorithm
		p    gen.Params
		want Layout
	}{
		{&catalogue.AllReduceRing, gen.Params{Size: 5, Depth: 1}, Layout{Kind: Ring}},
		{&catalogue.AllGatherNeighbour, gen.Params{Size: 6, Depth: 1}, Layout{Kind: Ring}},
		{&catalogue.BroadcastChain, gen.Params{Size: 5, Depth: 2}, Layout{Kind: Line}},
		{&catalogue.BroadcastBinomial, gen.Params{Size: 6, Depth: 1},
			Layout{Kind: Tree, Parent: []int{-1, 0, 0, 2, 0, 4}}},
		{&catalogue.BroadcastLinear, gen.Params{Size: 4, Root: 2, Depth: 1},
			Layout{Kind: Tree, Parent: []int{2, 2, -1, 2}}},
		{&catalogue.AllReduceRecursiveDoubling, gen.Params{Size: 4, Depth: 1}, Layout{Kind: Torus, Width: 2}},
		{&catalogue.AllReduceTwoLevel, gen.Params{Size: 6, Depth: 1, Local: 3}, Layout{Kind: Hosts, Width: 3}},
		{&catalogue.AllReduceOneShot, gen.Params{Size: 7, Depth: 1}, Layout{Kind: Circle}},
	} {
		s, err := gen.Instantiate(tc.a, tc.p)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, layoutOf(s)); d != "" {
			t.Errorf("%s, %d ranks: %s", s.Algorithm, s.Size, d)
		}
	}
}

// TestTorus: what a torus of three by four does is seen, and a ring is none.
func TestTorus(t *testing.T) {
	var edges [][2]int
	for rank := range 12 {
		right, below := rank/4*4+(rank+1)%4, (rank+4)%12
		edges = append(edges, [2]int{rank, right}, [2]int{rank, below})
	}
	if width, ok := torusOf(edges, 12); !ok || width != 4 {
		t.Errorf("%d, %t", width, ok)
	}
	if width, ok := torusOf(append(edges, [2]int{0, 5}), 12); ok {
		t.Errorf("with a diagonal, it is a torus of width %d", width)
	}
}
