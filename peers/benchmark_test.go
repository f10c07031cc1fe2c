package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRows: row names differ, all peers of a row can run it at some size and with their default at each, and sizes are
// a factor apart.
func TestRows(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range rows {
		if seen[r.name] {
			t.Errorf("there are two rows %q", r.name)
		}
		seen[r.name] = true
		if traffic[r.Collective] == nil {
			t.Errorf("%s: its traffic is missing", r.name)
		}
		for i, bytes := range r.sizes {
			if i > 0 && bytes != factor*r.sizes[i-1] {
				t.Errorf("%s: %d bytes come after %d", r.name, bytes, r.sizes[i-1])
			}
			for _, p := range r.peers {
				if p.tunings[0].name != byDefault || !p.tunings[0].fits(benchmark{r.call, bytes}) {
					t.Errorf("%s: %s has no default at %d bytes", r.name, p.name, bytes)
				}
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d rows", len(seen))
	}
}

// TestCollperfRunsAll runs each collective of the table with collperf at two sizes, and parses the output.
func TestCollperfRunsAll(t *testing.T) {
	program := filepath.Join(t.TempDir(), "collperf")
	if err := new(runner).compile(t.Context(), "go", "build", "-o", program,
		"github.com/collgen/collgen/cmd/collperf"); err != nil {
		t.Fatal(err)
	}
	r := &runner{cores: "0", programs: map[string]string{ours: program}}
	seen := make(map[string]bool)
	for _, one := range rows {
		c := call{Collective: one.Collective, Transport: "inproc", Ranks: 2}
		if seen[c.Collective] {
			continue
		}
		seen[c.Collective] = true
		sizes := one.sizes[:min(2, len(one.sizes))]
		us := competitor{name: ourName(false), sizes: sizes}
		command := append(r.ourCommand(c, &us)[3:], "-n", "1") // without taskset
		output, err := run(t.Context(), command, os.Environ())
		if err == nil {
			_, err = c.parse(output, sizes, false)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Collective, err)
		}
	}
}

// TestTunings: no two tunings of a peer that fit one benchmark have the same name, so that their times are not mixed
// up.
func TestTunings(t *testing.T) {
	for _, c := range comparisons(func(*row, int) bool { return true }) {
		for _, p := range c.peers() {
			for _, bytes := range c.sizes {
				seen := make(map[string]bool)
				for _, tuning := range p.tunings {
					if tuning.fits(c.at(bytes)) && seen[tuning.name] {
						t.Errorf("%s has two tunings %q for %+v", p.name, tuning.name, c.at(bytes))
					}
					seen[tuning.name] = seen[tuning.name] || tuning.fits(c.at(bytes))
				}
			}
		}
	}
}

// TestComparisons: calls that two rows need are one comparison, from the first size that is wanted to the last one.
func TestComparisons(t *testing.T) {
	of := call{Collective: "all-reduce", Transport: "shm", Ranks: 2}
	all := comparisons(func(r *row, bytes int) bool { return r.call == of && (bytes == 64 || bytes == 4*kib) })
	if len(all) != 1 || len(all[0].ours()) != 2 || !slices.Equal(all[0].peers(), mpis) ||
		!slices.Equal(all[0].sizes, []int{64, 512, 4 * kib}) {
		t.Errorf("%+v", all)
	}
}

// TestCannot: who waits without yielding is left out where ranks share cores, and nobody else.
func TestCannot(t *testing.T) {
	for _, p := range peers {
		want := p == &mpich4 || p == &mpich5 || p == &intelMPI
		if got := p.cannot(call{Ranks: 4}, 2); (got != "") != want {
			t.Errorf("%s: %q", p.name, got)
		}
		if got := p.cannot(call{Ranks: 2}, 2); got != "" {
			t.Errorf("%s: %q", p.name, got)
		}
	}
}
