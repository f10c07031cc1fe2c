package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/internal/figures"
)

// TestRows: row names differ, and the peers of a row can run it at all its sizes.
func TestRows(t *testing.T) {
	seen := make(map[string]bool)
	for i := range rows {
		r := &rows[i]
		if seen[r.name] {
			t.Errorf("there are two rows %q", r.name)
		}
		seen[r.name] = true
		if traffic[r.collective] == nil {
			t.Errorf("%s: its traffic is missing", r.name)
		}
		for _, bytes := range r.bytes() {
			for _, who := range r.peers {
				p := peerNamed(who)
				if !slices.Contains(p.transports, r.transport) || !slices.ContainsFunc(p.tunings, fits(r.benchmark(bytes))) {
					t.Errorf("%s: %s cannot run %s", r.name, who, figures.Size(bytes))
				}
			}
		}
	}
}

func fits(b benchmark) func(tuning) bool { return func(t tuning) bool { return t.fits(b) } }

// TestCollperfRunsAll runs each collective of the table with collperf, and parses the output.
func TestCollperfRunsAll(t *testing.T) {
	program := filepath.Join(t.TempDir(), "collperf")
	if err := new(runner).compile(t.Context(), "go", "build", "-o", program,
		"github.com/collgen/collgen/cmd/collperf"); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for i := range rows {
		b := benchmark{Collective: rows[i].collective, Transport: "inproc", Ranks: 2, Bytes: 8}
		if seen[b.Collective] {
			continue
		}
		seen[b.Collective] = true
		command := append([]string{program}, b.arguments()...)
		output, err := run(t.Context(), append(command, "-ranks", "2", "-place", "in", "-format", "json", "-n", "1"),
			os.Environ())
		if b.Collective == "barrier" {
			b.Bytes = 0
		}
		if err == nil {
			_, err = b.parse(output, false)
		}
		if err != nil {
			t.Errorf("%s: %v", b.Collective, err)
		}
	}
}

// TestTunings: no two tunings of a peer that fit one benchmark have the same name, so that their times are not mixed
// up.
func TestTunings(t *testing.T) {
	for _, c := range comparisons(func(*row, int) bool { return true }) {
		for _, who := range c.peers {
			seen := make(map[string]bool)
			for _, tuning := range peerNamed(who).tunings {
				if tuning.fits(c.benchmark) && seen[tuning.name] {
					t.Errorf("%s has two tunings %q for %+v", who, tuning.name, c.benchmark)
				}
				seen[tuning.name] = seen[tuning.name] || tuning.fits(c.benchmark)
			}
		}
	}
}

// TestComparisons: a benchmark that two rows need is one comparison.
func TestComparisons(t *testing.T) {
	at64K := comparisons(func(r *row, bytes int) bool {
		return bytes == 64*kib && strings.HasPrefix(r.name, "all-reduce, 2 ranks shm")
	})
	if len(at64K) != 1 || len(at64K[0].ours) != 2 || !slices.Equal(at64K[0].peers, mpis) {
		t.Errorf("%+v", at64K)
	}
}
