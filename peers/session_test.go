package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompetitors: at first a peer runs with all tunings that fit, and later with its default and the best ones, each
// at the sizes for which it is worthwhile.
func TestCompetitors(t *testing.T) {
	p := &peer{name: "A", tunings: []tuning{{name: byDefault}, {name: "short", to: 64}, {name: "long", from: 64}}}
	c := &comparison{call: testBenchmark.call, sizes: []int{8, 64, 512}}
	c.rows = []*row{{call: c.call, peers: []*peer{p}, sizes: c.sizes}}
	peers = append(peers, p)
	defer func() { peers = peers[:len(peers)-1] }()
	s := &session{runner: &runner{cores: "0,1"}, samples: new(samples), comparisons: []*comparison{c}, rounds: 3}
	sizes := func() map[string][]int {
		all := make(map[string][]int)
		for _, one := range s.competitors(c) {
			all[one.String()] = one.sizes
		}
		return all
	}
	want := map[string][]int{ours: {8, 64, 512}, "A (default)": {8, 64, 512}, "A (short)": {8, 64}, "A (long)": {64, 512}}
	if d := cmp.Diff(want, sizes()); d != "" {
		t.Error(d)
	}
	if got := s.remaining(nil, 0); got != 12 {
		t.Errorf("%d runs remain of 3 rounds of 4", got)
	}
	add := func(tuning string, times ...float64) {
		for i, v := range times {
			s.insert(record{Sample: &sample{benchmark: c.at(c.sizes[i]), name: name{"A", tuning}, Microseconds: v}})
		}
	}
	add(byDefault, 9, 9, 9)
	add("short", 1, 9)
	add("long", 99, 99, 1)
	want = map[string][]int{ours: {8, 64, 512}, "A (default)": {8, 64, 512}, "A (short)": {8, 64}, "A (long)": {512}}
	if d := cmp.Diff(want, sizes()); d != "" {
		t.Error(d)
	}
	if got := s.remaining(nil, 0); got != 8 {
		t.Errorf("%d runs remain of 2 rounds of 4", got)
	}
}

// TestLeftOut: each reason is said once.
func TestLeftOut(t *testing.T) {
	s := &session{runner: &runner{cores: "0,1"}, comparisons: comparisons(func(*row, int) bool { return true })}
	reasons := s.leftOut()
	if len(reasons) != 3 || len(slices.Compact(slices.Sorted(slices.Values(reasons)))) != 3 {
		t.Errorf("%q", reasons)
	}
}
