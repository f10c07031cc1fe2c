package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/internal/figures"
)

// TestRows is that the table's rows fit together, and that the peers can run them.
func TestRows(t *testing.T) {
	seen := make(map[string]bool)
	for i := range rows {
		r := &rows[i]
		if seen[r.name] {
			t.Errorf("there are two rows %q", r.name)
		}
		seen[r.name] = true
		if moves[r.collective] == nil {
			t.Errorf("%s: nothing says how much it has to move", r.name)
		}
		for bytes, target := range r.targets {
			if !slices.Contains(r.bytes(), bytes) && target != (targetNone) {
				t.Errorf("%s: a target for %s, which is not measured", r.name, figures.Size(bytes))
			}
			if target.Stretch != 0 && target.Stretch <= target.Floor {
				t.Errorf("%s, %s: the stretch %v is not above the floor %v", r.name, figures.Size(bytes), target.Stretch, target.Floor)
			}
		}
		for _, bytes := range r.bytes() {
			for _, who := range r.peers {
				p := peerNamed(who)
				if !slices.Contains(p.transports, r.transport) || !slices.ContainsFunc(p.tunings, fits(r.contest(bytes))) {
					t.Errorf("%s: %s cannot run %s", r.name, who, figures.Size(bytes))
				}
			}
		}
	}
}

var targetNone target // of a row that has targets for other sizes only

func fits(c contest) func(tuning) bool { return func(t tuning) bool { return t.fits(c) } }

// TestCollperfRunsAll has collperf run each collective of the table, and understands what it prints.
func TestCollperfRunsAll(t *testing.T) {
	program := filepath.Join(t.TempDir(), "collperf")
	if err := new(workshop).compile(t.Context(), "go", "build", "-o", program, "github.com/collgen/collgen/cmd/collperf"); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for i := range rows {
		c := contest{Collective: rows[i].collective, Transport: "inproc", Ranks: 2, Bytes: 8}
		if seen[c.Collective] {
			continue
		}
		seen[c.Collective] = true
		command := append([]string{program}, c.arguments()...)
		printed, err := run(t.Context(), append(command, "-ranks", "2", "-place", "in", "-format", "json", "-n", "1"), os.Environ())
		if c.Collective == "barrier" {
			c.Bytes = 0
		}
		if err == nil {
			_, err = c.median(printed, false)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Collective, err)
		}
	}
}

// TestTunings is that no two tunings of a peer that meet have one name: their times would be taken for one another's.
func TestTunings(t *testing.T) {
	for _, f := range fields(func(*row, int) bool { return true }) {
		for _, who := range f.peers {
			seen := make(map[string]bool)
			for _, tuning := range peerNamed(who).tunings {
				if tuning.fits(f.contest) && seen[tuning.name] {
					t.Errorf("%s has two tunings %q for %+v", who, tuning.name, f.contest)
				}
				seen[tuning.name] = seen[tuning.name] || tuning.fits(f.contest)
			}
		}
	}
}

// TestFields is that a contest that two rows look at is one.
func TestFields(t *testing.T) {
	at64K := fields(func(r *row, bytes int) bool {
		return bytes == 64*kib && strings.HasPrefix(r.name, "all-reduce, 2 ranks shm")
	})
	if len(at64K) != 1 || len(at64K[0].ours) != 2 || !slices.Equal(at64K[0].peers, mpis) {
		t.Errorf("%+v", at64K)
	}
}
