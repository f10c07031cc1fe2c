package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testReport = report{
	about: "today, here.",
	results: []result{
		{Row: "a", Bytes: 8, Rounds: 5, Ours: 0.123, Peer: 0.333, Best: name{openMPI, "default"}, Ratio: 2.7, Least: 2.1,
			Most: 3.3, Over: 1.23},
		{Row: "a", Bytes: mib, Missing: "no|launcher"},
		{Row: "b", Bytes: 0, Rounds: 1, Ours: 1234, Peer: 12.34, Best: name{Who: gloo}, Ratio: 0.01, Least: 0.01, Most: 0.01},
	},
	missing: []string{"Gloo: no compiler"},
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	if err := testReport.markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `today, here.

Not installed: Gloo: no compiler

| peer's time over ours | 8 | 64 | 1K | 64K | 1M | 16M | 64M |
|---|---|---|---|---|---|---|---|
| a | 2.70 |  |  |  | not measured |  |  |
| b | 0.01 |  |  |  |  |  |  |

| what | size | ours, µs | peer, µs | ratio | least-most | rounds | ours over the limit | the peer |
|---|---|---|---|---|---|---|---|---|
| a | 8 | 0.12 | 0.33 | 2.70 | 2.10-3.30 | 5 | 1.23 | Open MPI (default) |
| a | 1M |  |  | not measured |  |  |  | no\|launcher |
| b | - | 1234 | 12.3 | 0.01 | 0.01-0.01 | 1 |  | Gloo |
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// TestWrite replaces the table and nothing else, and does not change a file that has no place for one.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "performance.md")
	for _, test := range []struct{ before, after string }{{"before\n" + begin + "old\n" + end + "after\n", "after\n"},
		{"no place\n", ""}} {
		if err := os.WriteFile(path, []byte(test.before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := testReport.write(path)
		got, _ := os.ReadFile(path)
		if test.after == "" {
			if err == nil || string(got) != test.before {
				t.Errorf("a file without a place for the table: %v, %q", err, got)
			}
			continue
		}
		text := string(got)
		if err != nil || !strings.HasPrefix(text, "before\n"+begin+"today") ||
			!strings.HasSuffix(text, "|\n"+end+"after\n") ||
			strings.Contains(text, "old") {
			t.Errorf("%v, %q", err, text)
		}
	}
}

// TestDocument: the page has a place for the table.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/lab/performance.md")
	if err != nil || !strings.Contains(string(text), begin) || !strings.Contains(string(text), end) {
		t.Errorf("docs/lab/performance.md has no place for the table: %v", err)
	}
}
