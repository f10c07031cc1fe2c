package view

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/cost"
)

// TestCosts: the numbers are those that schedules measure, where these are small enough.
func TestCosts(t *testing.T) {
	var others []gen.Algorithm
	for _, a := range catalogue.Algorithms() {
		if a.Primitive.Name == "AllReduce" || a.Primitive.Name == "Broadcast" {
			others = append(others, a)
		}
	}
	bound, source, _ := catalogue.LowerBound(catalogue.AllReduceRing.Primitive)
	c := NewCosts(&catalogue.AllReduceRing, gen.Params{Size: 4, Depth: 1}, others, bound.Cost, bound.Chunks, source)
	if c.Bound == nil || !slices.Equal(c.Bound.Rows[0][2], []int{2, 6, 3, 4}) || c.Blocks != "the buffer of a rank" {
		t.Errorf("the bound for four ranks: %+v, of %s", c.Bound, c.Blocks)
	}
	for i, n := range c.Sizes {
		want := []int{bits.Len(uint(n - 1)), 2 * (n - 1), n - 1, n} // the logarithm, rounded up, and what a ring sends
		if got := c.Bound.Rows[0][i]; !slices.Equal(got, want) {
			t.Errorf("the bound for %d ranks is %v, want %v", n, got, want)
		}
	}
	compared := 0
	for _, x := range c.Algorithms {
		i := slices.IndexFunc(others, func(a gen.Algorithm) bool { return a.FullName() == x.Name })
		for d, rows := range x.Rows {
			compared += compareRows(t, &others[i], c.Depths[d], c.Sizes, rows)
		}
	}
	if compared < 150 {
		t.Errorf("%d costs were compared", compared)
	}
}

// compareRows compares what a costs with what its schedules measure, and returns for how many sizes it did.
func compareRows(t *testing.T, a *gen.Algorithm, depth int, sizes []int, rows [][]int) (n int) {
	t.Helper()
	for i, row := range rows {
		if len(row) == 0 || sizes[i] > 16 || depth > 4 {
			continue
		}
		s, err := gen.Instantiate(a, gen.Params{Size: sizes[i], Peer: 1, Depth: depth})
		if err != nil {
			t.Fatal(err)
		}
		m, err := cost.Measure(s)
		if want := []int{m.Alpha, m.Beta, m.Gamma, s.Chunks}; err != nil || !slices.Equal(row, want) {
			t.Errorf("%s, %d ranks, depth %d: %v, measured %v, %v", a.FullName(), sizes[i], depth, row, want, err)
		}
		n++
	}
	return n
}
