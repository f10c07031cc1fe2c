package verify

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGraph: an order respects every edge, and where there is none there is a cycle of edges.
func TestGraph(t *testing.T) {
	var g graph
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "events")
		g.reset(n)
		type edge struct{ from, to int32 }
		var edges []edge
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			e := edge{rapid.Int32Range(0, int32(n)-1).Draw(t, "from"), rapid.Int32Range(0, int32(n)-1).Draw(t, "to")}
			edges = append(edges, e)
			g.edge(e.from, e.to)
		}
		if g.sort() {
			for _, e := range edges {
				if slices.Index(g.order, e.from) >= slices.Index(g.order, e.to) {
					t.Errorf("%d is not before %d in %v", e.from, e.to, g.order)
				}
			}
			if len(g.order) != n {
				t.Errorf("%v is not an order of %d events", g.order, n)
			}
			return
		}
		cycle := g.cycle()
		for i, e := range cycle {
			if next := cycle[(i+1)%len(cycle)]; !slices.Contains(edges, edge{next, e}) {
				t.Errorf("in the cycle %v, %d does not wait for %d", cycle, e, next)
			}
		}
	})
}

// TestInterner: equal keys have equal numbers, in the order in which they come, also in memory that was used before.
func TestInterner(t *testing.T) {
	var in interner
	rapid.Check(t, func(t *rapid.T) {
		in.reset(rapid.IntRange(0, 3).Draw(t, "expected"))
		want := map[uint64]int32{}
		for _, key := range rapid.SliceOf(rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64())).Draw(t, "keys") {
			if _, ok := want[key]; !ok {
				want[key] = int32(len(want))
			}
			if got := in.id(key); got != want[key] || in.keys[got] != key {
				t.Fatalf("key %d has the number %d, want %d", key, got, want[key])
			}
		}
	})
	in.reset(0)
	for key := range uint64(10_000) {
		if got := in.id(key << 32); got != int32(key) {
			t.Fatalf("key %d has the number %d", key, got)
		}
	}
}
