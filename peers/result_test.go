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

var testRow = row{name: "a row", collective: "all-reduce", transport: "shm", ranks: 2, peers: mpis}

func TestResult(t *testing.T) {
	fast, slow, other := name{openMPI, "fast"}, name{openMPI, "slow"}, name{mpich, "default"}
	us := name{Who: ours}
	for _, test := range []struct {
		name  string
		times map[name][]float64
		want  result
	}{
		{"the best tuning counts, ratios are of one round, and the middle one of them",
			map[name][]float64{us: {1, 2, 4}, fast: {2, 8, 6}, slow: {9, 9, 9}, other: {7, 7, 7}},
			result{Rounds: 3, Ours: 2, Peer: 6, Best: fast, Ratio: 2, Least: 1.5, Most: 4}},
		{"the other peer is better",
			map[name][]float64{us: {1, 1}, fast: {4, 4}, other: {3, 3}},
			result{Rounds: 2, Ours: 1, Peer: 3, Best: other, Ratio: 3, Least: 3, Most: 3}},
		{"a tuning that was given up after a lucky round does not count",
			map[name][]float64{us: {1, 1, 1}, fast: {1.5, 1.9, 1.7}, slow: {0.1}},
			result{Rounds: 3, Ours: 1, Peer: 1.7, Best: fast, Ratio: 1.7, Least: 1.5, Most: 1.9}},
		{"a round in which one failed has no ratio",
			map[name][]float64{us: {1, 0, 1}, fast: {2, 2, 4}},
			result{Rounds: 2, Ours: 1, Peer: 2, Best: fast, Ratio: 3, Least: 2, Most: 4}},
		{"we failed", map[name][]float64{us: {0}, fast: {1}}, result{Missing: "collgen: it fell over"}},
		{"all of them failed", map[name][]float64{us: {1}, slow: {0}}, result{Missing: "Open MPI (slow): it fell over"}},
		{"nobody tried", nil, result{Missing: "not tried"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Row, test.want.Bytes = testRow.name, 8
			got := samplesOf(testRow.benchmark(8), test.times).result(&testRow, 8)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLimitOfRound: a time is compared with the limit of its own round.
func TestLimitOfRound(t *testing.T) {
	b := testRow.benchmark(8)
	s := samplesOf(b, map[name][]float64{ourName(false): {2, 20, 3}, {openMPI, "default"}: {4, 40, 4}})
	for round, v := range []float64{1, 10} { // of the third there is none
		s.insert(record{Round: round, Limits: limits{{Name: "cache line", Where: "both ways at once", Value: v},
			{Name: "copy", Where: "L3", Bytes: mib, Cores: 2, Value: 100}, {Name: "reduce", Where: "L3", Bytes: mib, Cores: 2,
				Value: 100}}})
	}
	if got := s.result(&testRow, 8); got.Over != 2 || got.Limit != 5.5 {
		t.Errorf("our time is %v times the limit %v", got.Over, got.Limit)
	}
}

// TestBestTunings drops tunings that failed, that are too slow, and that are too many.
func TestBestTunings(t *testing.T) {
	b := testRow.benchmark(8)
	times := map[name][]float64{{openMPI, "failed"}: {0}, {mpich, "other"}: {1}}
	for i, v := range []float64{13, 10, 12, 11, 99} {
		times[name{openMPI, fmt.Sprint(i)}] = []float64{v}
	}
	want := []name{{openMPI, "1"}, {openMPI, "3"}, {openMPI, "2"}}
	if d := cmp.Diff(want, samplesOf(b, times).bestTunings(b, openMPI)); d != "" {
		t.Error(d)
	}
	times = map[name][]float64{{openMPI, "good"}: {10}, {openMPI, "bad"}: {15}}
	if d := cmp.Diff([]name{{openMPI, "good"}}, samplesOf(b, times).bestTunings(b, openMPI)); d != "" {
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
		{benchmark{Collective: "all-reduce", Transport: "shm", Ranks: 2, Bytes: 8}, .15},
		{benchmark{Collective: "broadcast", Transport: "shm", Ranks: 4, Bytes: 8}, .1},
		{benchmark{Collective: "barrier", Transport: "shm", Ranks: 4}, 2},
		{benchmark{Collective: "barrier", Transport: "shm", Ranks: 7}, 6},
		{benchmark{Collective: "all-reduce", Transport: "shm", Ranks: 2, Bytes: 1e5}, 1 + 2},
		{benchmark{Collective: "all-reduce", Transport: "shm", Ranks: 2, Bytes: 1e7}, 500 + 1000},
		{benchmark{Collective: "broadcast", Transport: "shm", Ranks: 4, Bytes: 1e5}, 3},
		{benchmark{Collective: "all-gather", Transport: "shm", Ranks: 2, Bytes: 1e6}, 10},
		{benchmark{Collective: "all-gather", Transport: "tcp", Ranks: 2, Bytes: mib}, 0},
		{benchmark{Collective: "all-to-all", Transport: "shm", Ranks: 2, Bytes: 1e6, TwoBuffers: true}, 10},
		// less than the turns of the ranks take
		{benchmark{Collective: "all-reduce", Transport: "shm", Ranks: 4, Bytes: kib}, 2},
		{benchmark{Collective: "all-reduce", Transport: "tcp", Ranks: 2, Bytes: 8}, 0},
	} {
		if got := l.lowerBound(test.benchmark); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v: %v µs, want %v", test.benchmark, got, test.want)
		}
	}
	l = l.merge(limits{{Name: "tcp stream", Where: "loopback", Cores: 2, Value: 5, Unit: "GB/s"}})
	if got := l.lowerBound(benchmark{Collective: "all-reduce", Transport: "tcp", Ranks: 2, Bytes: 1e6}); got != 400 {
		t.Errorf("all-reduce over TCP: %v µs, want 400", got)
	}
	l = l.merge(limits{
		{Name: "tcp exchange", Where: "loopback, 8", Bytes: 8, Cores: 2, Value: 4, Unit: "us"},
		{Name: "tcp exchange", Where: "loopback, 1M", Bytes: mib, Cores: 2, Value: 150, Unit: "us"},
	})
	for bytes, want := range map[int]float64{8: 4, 64: 4, mib: 150, 16 * mib: 16 * 150} {
		if got := l.lowerBound(benchmark{Collective: "all-reduce", Transport: "tcp", Ranks: 2, Bytes: bytes}); got != want {
			t.Errorf("all-reduce of %d bytes over TCP: %v µs, want %v", bytes, got, want)
		}
	}
}
