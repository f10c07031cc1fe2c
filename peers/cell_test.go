package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// played returns samples of one contest: times by round, for each of some names; 0 is a failure.
func played(c contest, times map[name][]float64) *samples {
	s := new(samples)
	for who, all := range times {
		for round, t := range all {
			one := sample{contest: c, name: who, Round: round, Microseconds: t}
			if t == 0 {
				one.Failed = "it fell over"
			}
			s.take(record{Sample: &one})
		}
	}
	return s
}

var testRow = row{name: "a row", collective: "all-reduce", transport: "shm", ranks: 2, peers: mpis,
	targets: map[int]target{8: {Floor: 2, Stretch: 3}}}

func TestCell(t *testing.T) {
	fast, slow, other := name{openMPI, "fast"}, name{openMPI, "slow"}, name{mpich, "default"}
	us := name{Who: ours}
	for _, test := range []struct {
		name    string
		times   map[name][]float64
		want    cell
		verdict string
	}{
		{"the best tuning counts, ratios are of one round, and the middle one of them",
			map[name][]float64{us: {1, 2, 4}, fast: {2, 8, 6}, slow: {9, 9, 9}, other: {7, 7, 7}},
			cell{Rounds: 3, Ours: 2, Peer: 6, Best: fast, Ratio: 2, Least: 1.5, Most: 4}, "floor"},
		{"the other peer is better",
			map[name][]float64{us: {1, 1}, fast: {4, 4}, other: {3, 3}},
			cell{Rounds: 2, Ours: 1, Peer: 3, Best: other, Ratio: 3, Least: 3, Most: 3}, "stretch"},
		{"a tuning that was given up after a lucky round does not count",
			map[name][]float64{us: {1, 1, 1}, fast: {1.5, 1.9, 1.7}, slow: {0.1}},
			cell{Rounds: 3, Ours: 1, Peer: 1.7, Best: fast, Ratio: 1.7, Least: 1.5, Most: 1.9}, "below"},
		{"a round in which one failed has no ratio",
			map[name][]float64{us: {1, 0, 1}, fast: {2, 2, 4}},
			cell{Rounds: 2, Ours: 1, Peer: 2, Best: fast, Ratio: 3, Least: 2, Most: 4}, "stretch"},
		{"we failed", map[name][]float64{us: {0}, fast: {1}}, cell{Missing: "collgen: it fell over"}, "not measured"},
		{"all of them failed", map[name][]float64{us: {1}, slow: {0}}, cell{Missing: "Open MPI (slow): it fell over"}, "not measured"},
		{"nobody tried", nil, cell{Missing: "not tried"}, "not measured"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Row, test.want.Bytes, test.want.target = testRow.name, 8, testRow.targets[8]
			got := played(testRow.contest(8), test.times).cell(&testRow, 8)
			if d := cmp.Diff(test.want, got, cmp.AllowUnexported(cell{})); d != "" {
				t.Error(d)
			}
			if v := got.verdict(); v != test.verdict {
				t.Errorf("verdict %q, want %q", v, test.verdict)
			}
		})
	}
}

// TestVerdict is at the edges of the targets, and where there are none.
func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		ratio, limit float64
		target
		want string
	}{
		{1.99, 0, target{2, 3}, "below"}, {2, 0, target{2, 3}, "floor"}, {2.99, 0, target{2, 3}, "floor"}, {3, 0, target{2, 3}, "stretch"},
		{9, 0, target{Floor: 2}, "floor"}, {1, 0, target{Floor: 2}, "below"}, {9, 0, target{}, "-"},
		{1, 5, target{2, 3}, "below"}, {1, 5.01, target{2, 3}, "beyond"}, {2, 9, target{2, 3}, "floor"},
		{.5, 10, target{2, 3}, "beyond"}, {.5, 10.01, target{2, 3}, "below"}, {2, 5.01, target{3, 4}, "below"},
	} {
		c := cell{Ratio: test.ratio, target: test.target}
		if test.limit > 0 {
			c.Over, c.AtLimit = 10/test.ratio/test.limit, 10/test.limit
		}
		if got := c.verdict(); got != test.want {
			t.Errorf("%v of %v: %q, want %q", test.ratio, test.target, got, test.want)
		}
	}
}

// TestLimitOfRound: what was measured while the machine was slow is compared with its limit then.
func TestLimitOfRound(t *testing.T) {
	c := testRow.contest(8)
	s := played(c, map[name][]float64{ourName(false): {2, 20, 3}, {openMPI, "default"}: {4, 40, 4}})
	for round, v := range []float64{1, 10} { // of the third there is none
		s.take(record{Round: round, Limits: limits{{Name: "cache line", Where: "both ways at once", Value: v},
			{Name: "bare " + c.Collective, Where: fmt.Sprintf("%d ranks, 8", c.Ranks), Value: v}}})
	}
	if got := s.cell(&testRow, 8); got.Over != 2 || got.AtLimit != 4 || got.most() != 4 || got.Limit != 5.5 {
		t.Errorf("ours is %v and the peer's %v times the limit %v", got.Over, got.AtLimit, got.Limit)
	}
}

// TestKept gives up what is too slow, or more than enough, or fails.
func TestKept(t *testing.T) {
	c := testRow.contest(8)
	times := map[name][]float64{{openMPI, "failed"}: {0}, {mpich, "other"}: {1}}
	for i, v := range []float64{13, 10, 12, 11, 99} {
		times[name{openMPI, fmt.Sprint(i)}] = []float64{v}
	}
	want := []name{{openMPI, "1"}, {openMPI, "3"}, {openMPI, "2"}}
	if d := cmp.Diff(want, played(c, times).kept(c, openMPI)); d != "" {
		t.Error(d)
	}
	times = map[name][]float64{{openMPI, "good"}: {10}, {openMPI, "bad"}: {15}}
	if d := cmp.Diff([]name{{openMPI, "good"}}, played(c, times).kept(c, openMPI)); d != "" {
		t.Error(d)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := median(test.values); got != test.want {
			t.Errorf("the median of %v is %v, want %v", test.values, got, test.want)
		}
	}
}

// TestLeast is what limits mean for a collective.
func TestLeast(t *testing.T) {
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
		{Name: "bare all-gather", Where: "2 ranks, 1M", Bytes: mib, Cores: 2, Value: 9, Unit: "us"},
		{Name: "bare all-gather", Where: "2 ranks, 1M", Bytes: mib, Cores: 2, Value: 7, Unit: "us"}, // better
		{Name: "bare all-to-all", Where: "2 ranks, 1M", Bytes: mib, Cores: 2, Value: 20, Unit: "us"},
		{Name: "bare all-to-all, two buffers", Where: "2 ranks, 1M", Bytes: mib, Cores: 2, Value: 30, Unit: "us"},
		{Name: "bare all-gather", Where: "2 ranks, 1M, registered", Bytes: mib, Cores: 2, Value: 6, Unit: "us"},
		{Name: "bare all-reduce", Where: "4 ranks, 1K", Bytes: kib, Cores: 2, Value: .3, Unit: "us"},
		{Name: "tcp message", Where: "loopback, spinning", Cores: 2, Value: 3, Unit: "us"},
		{Name: "tcp stream", Where: "loopback", Refused: "no loopback"},
		{Name: "futex", Value: math.Inf(1)},
	})
	for _, test := range []struct {
		contest
		want float64
	}{
		{contest{Collective: "all-reduce", Transport: "shm", Ranks: 2, Bytes: 8}, .15},
		{contest{Collective: "broadcast", Transport: "shm", Ranks: 4, Bytes: 8}, .1},
		{contest{Collective: "barrier", Transport: "shm", Ranks: 4}, 2},
		{contest{Collective: "barrier", Transport: "shm", Ranks: 7}, 6},
		{contest{Collective: "all-reduce", Transport: "shm", Ranks: 2, Bytes: 1e5}, 1 + 2},
		{contest{Collective: "all-reduce", Transport: "shm", Ranks: 2, Bytes: 1e7}, 500 + 1000},
		{contest{Collective: "broadcast", Transport: "shm", Ranks: 4, Bytes: 1e5}, 3},
		{contest{Collective: "all-gather", Transport: "shm", Ranks: 2, Bytes: mib}, 7},
		{contest{Collective: "all-gather", Transport: "shm", Ranks: 2, Bytes: 1e6}, 10}, // of another size: by the bytes
		{contest{Collective: "all-gather", Transport: "tcp", Ranks: 2, Bytes: mib}, 0},
		{contest{Collective: "all-to-all", Transport: "shm", Ranks: 2, Bytes: mib}, 20},
		{contest{Collective: "all-to-all", Transport: "shm", Ranks: 2, Bytes: mib, TwoBuffers: true}, 30},
		{contest{Collective: "all-reduce", Transport: "shm", Ranks: 4, Bytes: kib}, 2}, // less than the turns of the ranks
		{contest{Collective: "all-reduce", Transport: "tcp", Ranks: 2, Bytes: 8}, 0},
	} {
		if got := l.least(test.contest, false); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v: %v µs, want %v", test.contest, got, test.want)
		}
	}
	if got := l.least(contest{Collective: "all-gather", Transport: "shm", Ranks: 2, Bytes: mib}, true); got != 6 {
		t.Errorf("all-gather of registered memory: %v µs, want 6", got)
	}
	l = l.merge(limits{{Name: "tcp stream", Where: "loopback", Cores: 2, Value: 5, Unit: "GB/s"}})
	if got := l.least(contest{Collective: "all-reduce", Transport: "tcp", Ranks: 2, Bytes: 1e6}, false); got != 400 {
		t.Errorf("all-reduce over TCP: %v µs, want 400", got)
	}
	l = l.merge(limits{
		{Name: "tcp exchange", Where: "loopback, 8", Bytes: 8, Cores: 2, Value: 4, Unit: "us"},
		{Name: "tcp exchange", Where: "loopback, 1M", Bytes: mib, Cores: 2, Value: 150, Unit: "us"},
	})
	for bytes, want := range map[int]float64{8: 4, 64: 4, mib: 150, 16 * mib: 16 * 150} {
		if got := l.least(contest{Collective: "all-reduce", Transport: "tcp", Ranks: 2, Bytes: bytes}, false); got != want {
			t.Errorf("all-reduce of %d bytes over TCP: %v µs, want %v", bytes, got, want)
		}
	}
}
