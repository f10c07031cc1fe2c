package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samplesOf returns samples of one benchmark: the times by round of each name; 0 is a failure.
func samplesOf(b benchmark, times map[name][]float64) *samples {
	s := new(samples)
	for who, all := range times {
		for round, t := range all {
			one := sample{benchmark: b, name: who, Round: round, Microseconds: t}
			if t == 0 {
				one.Failed = "it fell over"
			}
			s.insert(record{Sample: &one})
		}
	}
	return s
}

var testRow = row{name: "a row", peers: []*peer{{name: "A"}, {name: "B"}}, call: testBenchmark.call}

func TestResult(t *testing.T) {
	plain, fast, slow, other := name{"A", byDefault}, name{"A", "fast"}, name{"A", "slow"}, name{"B", byDefault}
	us := name{Who: ours}
	for _, test := range []struct {
		name  string
		times map[name][]float64
		want  result
	}{
		{"the best tuning counts, ratios are of one round, and the middle one of them",
			map[name][]float64{us: {1, 2, 4}, fast: {2, 8, 6}, slow: {9, 9, 9}, plain: {8, 8, 8}, other: {7, 7, 7}},
			result{Ours: 2, Best: standing{fast, 3, 6, 2, 1.5, 4}, Default: standing{other, 3, 7, 3.5, 1.75, 7},
				Peers: []standing{{plain, 3, 8, 4, 2, 8}, {fast, 3, 6, 2, 1.5, 4}, {other, 3, 7, 3.5, 1.75, 7}}}},
		{"the default is the best",
			map[name][]float64{us: {1, 1}, fast: {4, 4}, other: {3, 3}},
			result{Ours: 1, Best: standing{other, 2, 3, 3, 3, 3}, Default: standing{other, 2, 3, 3, 3, 3},
				Peers: []standing{{fast, 2, 4, 4, 4, 4}, {other, 2, 3, 3, 3, 3}}}},
		{"a tuning that was given up after a lucky round does not count",
			map[name][]float64{us: {1, 1, 1}, fast: {1.5, 1.9, 1.7}, slow: {0.1}},
			result{Ours: 1, Best: standing{fast, 3, 1.7, 1.7, 1.5, 1.9}, Peers: []standing{{fast, 3, 1.7, 1.7, 1.5, 1.9}}}},
		{"a round in which one failed has no ratio",
			map[name][]float64{us: {1, 0, 1}, fast: {2, 2, 4}},
			result{Ours: 1, Best: standing{fast, 2, 2, 3, 2, 4}, Peers: []standing{{fast, 2, 2, 3, 2, 4}}}},
		{"we failed", map[name][]float64{us: {0}, fast: {1}}, result{Missing: "collgen: it fell over"}},
		{"all of them failed", map[name][]float64{us: {1}, slow: {0}}, result{Missing: "A (slow): it fell over"}},
		{"nobody tried", nil, result{Missing: "not tried"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Row, test.want.Bytes = testRow.name, 8
			got := samplesOf(testBenchmark, test.times).result(&testRow, 8)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLimitOfRound: a time is compared with the limit of its own round.
func TestLimitOfRound(t *testing.T) {
	b := testBenchmark
	s := samplesOf(b, map[name][]float64{ourName(false): {2, 20, 3}, {"A", byDefault}: {4, 40, 4}})
	for round, v := range []float64{1, 10} { // of the third there is none
		s.insert(record{Round: round, Limits: limits{{Name: "cache line", Where: "both ways at once", Value: v},
			{Name: "copy", Where: "L3", Bytes: mib, Cores: 2, Value: 100}, {Name: "reduce", Where: "L3", Bytes: mib, Cores: 2,
				Value: 100}}})
	}
	if got := s.result(&testRow, 8); got.Over != 2 || got.Limit != 5.5 {
		t.Errorf("our time is %v times the limit %v", got.Over, got.Limit)
	}
}

// TestWorthwhile drops tunings that failed, that are too slow, and that are too many.
func TestWorthwhile(t *testing.T) {
	a := testRow.peers[:1]
	times := map[name][]float64{{"A", "failed"}: {0}, {"B", "other"}: {1}, {"A", byDefault}: {30}}
	for i, v := range []float64{13, 10, 12, 11, 99} {
		times[name{"A", fmt.Sprint(i)}] = []float64{v}
	}
	s := samplesOf(testBenchmark, times)
	want := []name{{"A", "1"}, {"A", "3"}, {"A", "2"}}
	if d := cmp.Diff(want, s.worthwhile(testBenchmark, a, isAny)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]name{{"A", byDefault}}, s.worthwhile(testBenchmark, a, isDefault)); d != "" {
		t.Error(d)
	}
	times = map[name][]float64{{"A", "good"}: {10}, {"B", "bad"}: {15}}
	got := samplesOf(testBenchmark, times).worthwhile(testBenchmark, testRow.peers, isAny)
	if d := cmp.Diff([]name{{"A", "good"}}, got); d != "" {
		t.Error(d)
	}
}

// TestLowerBound: what limits mean for a collective.
func TestLowerBound(t *testing.T) {
	var l limits
	l = l.merge(limits{
		{Name: "cache line", Where: "between cores", Cores: 2, Value: .2, Unit: "us"},
		{Name: "cache line", Where: "between cores", Cores: 2, Value: .1, Unit: "us"}, // better
		{Name: "cache line", Where: "both ways at once", Cores: 2, Value: .15, Unit: "us"},
		{Name: "switch", Where: "on one core", Cores: 1, Value: 2, Unit: "us"},
		{Name: "copy", Where: "L3", Bytes: mib, Cores: 2, Value: 80, Unit: "GB/s"},
		{Name: "copy", Where: "L3", Bytes: mib, Cores: 2, Value: 100, Unit: "GB/s"}, // better
		{Name: "copy", Where: "L3", Bytes: mib, Cores: 1, Value: 900, Unit: "GB/s"}, // of one core
		{Name: "reduce", Where: "L3", Bytes: mib, Cores: 2, Value: 50, Unit: "GB/s"},
		{Name: "copy", Where: "DRAM", Bytes: 64 * mib, Cores: 2, Value: 20, Unit: "GB/s"},
		{Name: "reduce", Where: "DRAM", Bytes: 64 * mib, Cores: 2, Value: 10, Unit: "GB/s"},
		{Name: "tcp message", Where: "loopback, spinning", Cores: 2, Value: 3, Unit: "us"},
		{Name: "tcp stream", Where: "loopback", Refused: "no loopback"},
		{Name: "futex", Value: math.Inf(1)},
	})
	for _, test := range []struct {
		benchmark
		want float64
	}{
		{benchmark{call{Collective: "all-reduce", Transport: "shm", Ranks: 2}, 8}, .15},
		{benchmark{call{Collective: "broadcast", Transport: "shm", Ranks: 4}, 8}, .1},
		{benchmark{call{Collective: "barrier", Transport: "shm", Ranks: 4}, 0}, 2},
		{benchmark{call{Collective: "barrier", Transport: "shm", Ranks: 7}, 0}, 6},
		{benchmark{call{Collective: "all-reduce", Transport: "shm", Ranks: 2}, 1e5}, 1 + 2},
		{benchmark{call{Collective: "all-reduce", Transport: "shm", Ranks: 2}, 1e7}, 500 + 1000},
		{benchmark{call{Collective: "broadcast", Transport: "shm", Ranks: 4}, 1e5}, 3},
		{benchmark{call{Collective: "all-gather", Transport: "shm", Ranks: 2}, 1e6}, 10},
		{benchmark{call{Collective: "all-gather", Transport: "tcp", Ranks: 2}, mib}, 0},
		{benchmark{call{Collective: "all-to-all", Transport: "shm", Ranks: 2, TwoBuffers: true}, 1e6}, 10},
		// less than the turns of the ranks take
		{benchmark{call{Collective: "all-reduce", Transport: "shm", Ranks: 4}, kib}, 2},
		{benchmark{call{Collective: "all-reduce", Transport: "tcp", Ranks: 2}, 8}, 0},
	} {
		if got := l.lowerBound(test.benchmark); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v: %v µs, want %v", test.benchmark, got, test.want)
		}
	}
	l = l.merge(limits{{Name: "tcp stream", Where: "loopback", Cores: 2, Value: 5, Unit: "GB/s"}})
	if got := l.lowerBound(benchmark{call{Collective: "all-reduce", Transport: "tcp", Ranks: 2}, 1e6}); got != 400 {
		t.Errorf("all-reduce over TCP: %v µs, want 400", got)
	}
	l = l.merge(limits{
		{Name: "tcp exchange", Where: "loopback, 8", Bytes: 8, Cores: 2, Value: 4, Unit: "us"},
		{Name: "tcp exchange", Where: "loopback, 1M", Bytes: mib, Cores: 2, Value: 150, Unit: "us"},
	})
	for bytes, want := range map[int]float64{8: 4, 64: 4, mib: 150, 16 * mib: 16 * 150} {
		if got := l.lowerBound(benchmark{call{Collective: "all-reduce", Transport: "tcp", Ranks: 2}, bytes}); got != want {
			t.Errorf("all-reduce of %d bytes over TCP: %v µs, want %v", bytes, got, want)
		}
	}
}
