package ref

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestNeighbors: worked examples of what each rank gets from its neighbours. Rank 0 sends a0, a1, …, rank 1 sends b0,
// b1, ….
func TestNeighbors(t *testing.T) {
	both, ring, line := []bool{true, true}, []bool{true}, []bool{false}
	for _, x := range []struct {
		name  string
		edges []Edge
		want  string // blocks by rank; - is one that stays as it was
	}{
		{"a line of 3", Grid([]int{3}, line), "- b0|a1 c0|b1 -"},
		{"a ring of 3", Grid([]int{3}, ring), "c1 b0|a1 c0|b1 a0"},
		{"a ring of 2", Grid([]int{2}, ring), "b1 b0|a1 a0"},
		{"a line of 2", Grid([]int{2}, line), "- b0|a1 -"},
		{"a ring of 1", Grid([]int{1}, ring), "a1 a0"},
		{"a line of 1", Grid([]int{1}, line), "- -"},
		{"rings of 2 and 1", Grid([]int{2, 1}, both), "b1 b0 a3 a2|a1 a0 b3 b2"},
		{"2 rows, which are rings of 3", Grid([]int{2, 3}, []bool{false, true}),
			"- d0 c3 b2|- e0 a3 c2|- f0 b3 a2|a1 - f3 e2|b1 - d3 f2|c1 - e3 d2"},
		{"a graph", Graph([][]int{{1, 2}, {0}, {}}, [][]int{{1}, {0}, {0}}), "b0 c0|a0|"},
		{"edges in the orders of both lists", Graph([][]int{{1, 0, 1, -1, 1}, {}}, [][]int{{0}, {0, -1, 0, 0}}),
			"b0 a0 b2 - b3|"},
		{"the ring of 2 as a graph", Graph([][]int{{1, 1}, {0, 0}}, [][]int{{1, 1}, {0, 0}}), "b0 b1|a0 a1"},
	} {
		dst := make([][][]string, strings.Count(x.want, "|")+1)
		src := make([][][]string, len(dst))
		for rank, want := range strings.Split(x.want, "|") {
			for block := range 6 {
				src[rank] = append(src[rank], []string{string(rune('a'+rank)) + strconv.Itoa(block)})
			}
			for range strings.Fields(want) {
				dst[rank] = append(dst[rank], []string{"-"})
			}
		}
		all := cloneBlocks(dst)
		NeighborAllToAll(x.edges, dst, src)
		if got := inWords(dst); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
		first := make([][]string, len(src))
		for rank := range src {
			first[rank] = src[rank][0]
		}
		NeighborAllGather(x.edges, all, first)
		want := strings.NewReplacer("1", "0", "2", "0", "3", "0").Replace(x.want)
		if got := inWords(all); got != want {
			t.Errorf("%s, gathered: %q, want %q", x.name, got, want)
		}
	}
}

func cloneBlocks(all [][][]string) [][][]string {
	all = slices.Clone(all)
	for rank := range all {
		all[rank] = slices.Clone(all[rank])
	}
	return all
}

// inWords returns blocks of one element each.
func inWords(all [][][]string) string {
	ranks := make([]string, len(all))
	for rank, blocks := range all {
		ranks[rank] = strings.Join(slices.Concat(blocks...), " ")
	}
	return strings.Join(ranks, "|")
}

// TestLongRings: where no neighbour is one twice, a grid is the graph of its neighbours.
func TestLongRings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(3, 5), 0, 3).Draw(t, "dims")
		periodic := rapid.SliceOfN(rapid.Bool(), len(dims), len(dims)).Draw(t, "periodic")
		size := 1
		for _, n := range dims {
			size *= n
		}
		edges := Grid(dims, periodic)
		sources, destinations := make([][]int, size), make([][]int, size)
		for rank := range size {
			sources[rank] = slices.Repeat([]int{-1}, 2*len(dims))
			destinations[rank] = slices.Clone(sources[rank])
		}
		for _, e := range edges {
			sources[e.To][e.Got], destinations[e.From][e.Sent] = e.From, e.To
		}
		if d := cmp.Diff(set(edges), set(Graph(sources, destinations))); d != "" {
			t.Fatal(d)
		}
	})
}

func set(edges []Edge) map[Edge]int {
	all := map[Edge]int{}
	for _, e := range edges {
		all[e]++
	}
	return all
}
