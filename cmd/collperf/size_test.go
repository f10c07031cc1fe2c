package main

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "8": 8, "1000": 1000, "4K": 4096, "4k": 4096, "3M": 3 << 20, "2G": 2 << 30, "1T": 1 << 40,
	} {
		var got size
		if err := got.Set(text); err != nil || int64(got) != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "K", "-1", "1.5K", "1KB", "9223372036854775807K", "99999999999999999999"} {
		got := size(5)
		if err := got.Set(text); err == nil || got != 5 {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add("64K")
	f.Fuzz(func(t *testing.T, text string) {
		var s, again size
		if s.Set(text) != nil {
			return
		}
		if err := again.Set(s.String()); s < 0 || err != nil || again != s {
			t.Errorf("%q is %d, and %v is %d (%v)", text, int(s), &s, int(again), err)
		}
	})
}

func TestSteps(t *testing.T) {
	for _, test := range []struct {
		first, last size
		factor      int
		want        []int
	}{
		{8, 64, 2, []int{8, 16, 32, 64}},
		{8, 100, 4, []int{8, 32}},
		{0, 100, 4, []int{0}},
		{5, 5, 2, []int{5}},
		{math.MaxInt, math.MaxInt, 2, []int{math.MaxInt}},
	} {
		if got := steps(test.first, test.last, test.factor); !slices.Equal(got, test.want) {
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
		o, _ := operationOf(test.name)
		if got := o.counts([]int{0, 8, 16, 64}, test.ranks, 4); !slices.Equal(got, test.want) {
			t.Errorf("%s among %s: %v, want %v", test.name, strconv.Itoa(test.ranks), got, test.want)
		}
	}
}
