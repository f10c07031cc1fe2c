package fast

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/setup"
)

// TestCarrier: all ranks have the same word for how they talk, on communicators of several sizes.
func TestCarrier(t *testing.T) {
	carriers := map[string][]string{ // by the size, from 1
		"goroutines":     {"inproc", "inproc", "inproc"},
		"shm":            {"inproc", "shm", "shm"},
		"tcp":            {"inproc", "tcp", "tcp"},
		"tcp, encrypted": {"inproc", "tcp", "tcp"},
		"mixed":          {"inproc", "tcp", "mixed"},
	}
	for _, w := range worlds {
		if w.name == "shm" && !setup.CanShare {
			t.Log("this system shares no memory")
			continue
		}
		for i, want := range carriers[w.name] {
			all := w.comms(t, i+1)
			for _, c := range all {
				if got := c.Topology(); got.Transport != want || c.exec.PerHost != 0 && c.exec.PerHost != most(got.Hosts) {
					t.Errorf("%s, %v: %v over %q, want %q, and %d on a host", w.name, c, got, got.Transport, want, c.exec.PerHost)
				}
			}
			closeAll(t, all)
		}
	}
}

// most returns how many ranks are on the host that has the most.
func most(hosts [][]int) (n int) {
	for _, ranks := range hosts {
		n = max(n, len(ranks))
	}
	return n
}

// TestCarrierOfSplit: a part of a mixed communicator is not mixed.
func TestCarrierOfSplit(t *testing.T) {
	if !setup.CanShare {
		t.Skip("this system shares no memory")
	}
	all := initComms(t, 4, oddAndEven)
	defer closeAll(t, all)
	for _, test := range []struct {
		color func(rank int) int
		want  string
	}{
		{func(rank int) int { return rank % 2 }, "shm"},
		{func(rank int) int { return rank / 2 }, "tcp"},
		{func(rank int) int { return rank / 3 }, "mixed"}, // and a rank alone
	} {
		parts := make([]*Comm, len(all))
		for _, err := range onAll(all, func(c *Comm) (err error) {
			parts[c.Rank()], err = c.Split(t.Context(), test.color(c.Rank()), 0)
			return err
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range parts {
			if want := unless(c.Size() == 1, test.want, "inproc"); c.exec.Carrier != want || c.exec.PerHost != most(c.Topology().Hosts) {
				t.Errorf("%v: %q, %d on a host, want %q, %v", c, c.exec.Carrier, c.exec.PerHost, want, c.Topology())
			}
		}
		closeAll(t, parts)
	}
}

// TestAlgorithms lists what there is.
func TestAlgorithms(t *testing.T) {
	names := Collectives()
	if !slices.IsSorted(names) || len(names) != 10 {
		t.Errorf("the collectives are %v", names)
	}
	for _, name := range names {
		if len(Algorithms(name)) == 0 {
			t.Errorf("%s has no algorithms", name)
		}
	}
	if got := Algorithms("AllReduce"); !slices.Contains(got, "ring") {
		t.Errorf("those of AllReduce are %v", got)
	}
	if got := Algorithms("allreduce"); got != nil {
		t.Errorf("those of nothing are %v", got)
	}
}

// BenchmarkPlan is what the choice of an algorithm costs a call.
func BenchmarkPlan(b *testing.B) {
	for _, bench := range []struct {
		name        string
		k           *exec.Collective
		count, size int
		opts        []Option
	}{
		{"AllReduce of 8 bytes", &allReduce, 1, 2, nil},
		{"AllReduce of 1 MiB", &allReduce, 1 << 17, 8, nil},
		{"Broadcast of 1 MiB, in pieces", &broadcast, 1 << 17, 8, nil},
		{"AllReduce of 8 bytes, by name", &allReduce, 1, 2, []Option{WithAlgorithm("ring")}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			c := newComm(0, bench.size, nil)
			for b.Loop() {
				if _, _, err := c.exec.Plan(bench.k, bench.count, 8*bench.count, Sum, bench.opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
