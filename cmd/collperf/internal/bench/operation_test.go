package bench

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/collgen/collgen/internal/figures"
)

func TestSizes(t *testing.T) {
	for _, test := range []struct {
		first, last figures.Size
		factor      int
		want        []int
	}{
		{8, 64, 2, []int{8, 16, 32, 64}},
		{8, 100, 4, []int{8, 32}},
		{0, 100, 4, []int{0}},
		{5, 5, 2, []int{5}},
		{math.MaxInt, math.MaxInt, 2, []int{math.MaxInt}},
	} {
		if got := Sizes(test.first, test.last, test.factor); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// TestCounts: sizes are of all blocks, as in nccl-tests.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		name  string
		ranks int
		want  []int
	}{
		{"all-reduce", 4, []int{0, 2, 4, 16}},
		{"all-gather", 4, []int{0, 1, 4}},
		{"reduce-scatter", 2, []int{0, 1, 2, 8}},
		{"barrier", 4, []int{0}},
	} {
		o, _ := OperationNamed(test.name)
		if got := o.Counts([]int{0, 8, 16, 64}, test.ranks, 4); !slices.Equal(got, test.want) {
			t.Errorf("%s among %s: %v, want %v", test.name, strconv.Itoa(test.ranks), got, test.want)
		}
	}
}
