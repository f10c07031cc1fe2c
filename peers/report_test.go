package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var testReport = report{
	about: "today, here.",
	results: []result{
		{Row: "a", Group: "g", Bytes: 8, Ours: 0.123, Over: 1.23,
			Best:    standing{name{"Open MPI 5", "fast"}, 5, 0.333, 2.7, 2.1, 3.3},
			Default: standing{name{"MPICH 5", byDefault}, 4, 0.4, 3.25, 3, 3.5}},
		{Row: "a", Bytes: 4 * kib, Missing: "no|launcher"},
		{Row: "b", Group: "g", Bytes: 0, Ours: 1234, Best: standing{name{Who: "Gloo"}, 1, 12.34, 0.01, 0.01, 0.01}},
	},
	missing: []string{"Gloo: no compiler"},
	leftOut: []string{"MPICH 5: it waits"},
}

// TestMarkdown: in each cell, the ratio to the peer at its default comes before the one to the peer at its best.
func TestMarkdown(t *testing.T) {
	var b strings.Builder
	if err := testReport.markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `today, here.

Not installed: Gloo: no compiler

Left out: MPICH 5: it waits

| peer's time over ours | 8 | 64 | 512 | 4K | 32K | 256K | 2M | 16M |
|---|---|---|---|---|---|---|---|---|
| a | 3.25 / 2.70 |  |  | not measured |  |  |  |  |
| b | not measured / 0.01 |  |  |  |  |  |  |  |

| geometric mean | cells | peers at defaults | 1.0 or more | peers at their best | 1.0 or more |
|---|---|---|---|---|---|
| g | 1 | 3.25 | 1 | 2.70 | 1 |

` + "| what | size | ours, µs | peer, µs | ratio | least-most | rounds | ours over the limit | the peer | " +
		"at its default, µs | ratio to that | the peer at its default |\n" +
		`|---|---|---|---|---|---|---|---|---|---|---|---|
| a | 8 | 0.12 | 0.33 | 2.70 | 2.10-3.30 | 5 | 1.23 | Open MPI 5 (fast) | 0.40 | 3.25 | MPICH 5 |
| a | 4K |  |  | not measured |  |  |  | no\|launcher |  |  |  |
| b | - | 1234 | 12.3 | 0.01 | 0.01-0.01 | 1 |  | Gloo |  | not measured |  |
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// TestMeans: a mean is of the cells of its group that have both ratios, and each kind of ratio has its own.
func TestMeans(t *testing.T) {
	cell := func(group string, atDefault, atBest float64) result {
		r := result{Group: group}
		r.Default.Rounds, r.Default.Ratio, r.Best.Rounds, r.Best.Ratio = 1, atDefault, 1, atBest
		return r
	}
	half := cell("g", 9, 9)
	half.Default.Rounds = 0
	got := means([]result{cell("g", 8, 2), cell("", 100, 100), cell("h", 1, .25), cell("g", .5, .5), half})
	want := []mean{{"g", 2, average{2, 1}, average{1, 1}}, {"h", 1, average{1, 1}, average{.25, 0}}}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); d != "" {
		t.Error(d)
	}
}

// TestWrite replaces the table, or the ratios, and nothing else, and does not change a file that has no place for them.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "performance.md")
	for _, test := range []struct {
		place   string
		write   func(string) error
		details bool
	}{{begin, testReport.write, true}, {beginRatios, testReport.writeRatios, false}} {
		for before, after := range map[string]string{"before\n" + test.place + "old\n" + end + "after\n": "after\n",
			"no place\n": ""} {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			err := test.write(path)
			got, _ := os.ReadFile(path)
			if after == "" {
				if err == nil || string(got) != before {
					t.Errorf("a file without a place for the table: %v, %q", err, got)
				}
				continue
			}
			text := string(got)
			if err != nil || !strings.HasPrefix(text, "before\n"+test.place+"today") ||
				!strings.HasSuffix(text, "|\n"+end+"after\n") || strings.Contains(text, "old") ||
				strings.Contains(text, "| what |") != test.details || !strings.Contains(text, "| g | 1 | 3.25 |") {
				t.Errorf("%v, %q", err, text)
			}
		}
	}
}

// TestDocuments: the pages have a place for the table and the ratios.
func TestDocuments(t *testing.T) {
	for path, place := range map[string]string{page: begin, "../docs/performance.md": beginRatios} {
		text, err := os.ReadFile(path)
		if _, rest, ok := strings.Cut(string(text), place); !ok || !strings.Contains(rest, end) {
			t.Errorf("%s has no place %q: %v", path, place, err)
		}
	}
}

// TestNumber: no number is 0 but what is not known, so that a table can be read again.
func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "", 1e-9: "0.000001", 0.0027: "0.002700", 0.123: "0.12", 1: "1.00",
		12.34: "12.3", 123.4: "123"} {
		if got := number(v); got != want {
			t.Errorf("%v is written as %q, want %q", v, got, want)
		}
	}
}
