package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/selection"
)

// tuneFile is a table for tests, which the runtime's tests read as well.
const tuneFile = "../../selection/testdata/tune.json"

// TestTunedCatalogue: the rules of a file come before the built-in ones, of which those are left that calls can get,
// and the whole is legal and total.
func TestTunedCatalogue(t *testing.T) {
	plain, tuned := builtIn(""), builtIn("")
	if err := tuned.tune(tuneFile); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(tuned.Command, " -tune "+tuneFile) {
		t.Errorf("the command is %s", tuned.Command)
	}
	if err := checkRules(t.Context(), &job{source: tuned}); err != nil {
		t.Error(err)
	}
	for _, p := range tuned.primitives {
		mine := tuned.tuning.Rules[p.Name]
		for i, r := range tuned.rules(p) {
			if i < len(mine) && r != mine[i] {
				t.Errorf("%s: rule %d is %v, want %v", p.Name, i+1, r, mine[i])
			}
		}
		if len(mine) == 0 && len(tuned.rules(p)) != len(plain.rules(p)) {
			t.Errorf("%s has other rules, although the file has none", p.Name)
		}
	}
}

// TestTunedModule generates a package with a table of its own, and finds that the file differs without it.
func TestTunedModule(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a.go": small("theirs", shift)})
	file := filepath.Join(dir, "tune.json")
	write(t, file, `{"rules": {"Same": [{"algorithm": "copy", "transport": "tcp", "maxBytes": 77}]}}`)
	if status, _, stderr := collgen(t, "gen", "-tune", file, dir); status != 0 {
		t.Fatal(stderr)
	}
	text := read(t, filepath.Join(dir, "zsame.go"))
	for _, want := range []string{"// Command: go tool collgen gen -tune " + file,
		`{Transport: "tcp", Algorithm: "copy", MaxBytes: 77}`} {
		if !strings.Contains(text, want) {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
	if status, _, stderr := collgen(t, "check", "-tune", file, dir); status != 0 {
		t.Error(stderr)
	}
	if status, _, _ := collgen(t, "check", dir); status != statusFailed {
		t.Errorf("check without the table: status %d", status)
	}
}

// TestTuneRefuses what is wrong with a file, and names it and the place.
func TestTuneRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tune.json")
	for _, test := range []struct{ text, want string }{
		{`{"rules": 3}`, `"rules" is a number`},
		{`{"rules": {"Reduces": []}}`, "rules.Reduces: there is no such collective; there are AllGather"},
		{`{"rules": {"Reduce": [{"algorithm": "ring"}]}}`, "rules.Reduce: rule 1, ring: there is no such algorithm"},
	} {
		write(t, file, test.text)
		status, stdout, stderr := collgen(t, "explain", "reduce", "-catalogue", "-tune", file)
		if status != statusFailed || stdout != "" || !strings.Contains(stderr, file+": ") ||
			!strings.Contains(stderr, test.want) {
			t.Errorf("%s: status %d\n%s%s", test.text, status, stdout, stderr)
		}
	}
	if status, _, stderr := collgen(t, "explain", "reduce", "-catalogue", "-tune", file+"x"); status != statusFailed ||
		!strings.Contains(stderr, "no such file") {
		t.Errorf("a file that is not there: status %d, %s", status, stderr)
	}
}

// TestExplainTuned explains by the rules of a file.
func TestExplainTuned(t *testing.T) {
	var p chosen
	decode(t, &p, "explain", "broadcast", "-json", "-catalogue", "-bytes", "8193", "-size", "2", "-tune", tuneFile)
	if len(p.Calls) != len(selection.Transports) || p.Calls[0].Line != 1 || p.Calls[0].Depth != 3 {
		t.Errorf("%+v", p.Calls)
	}
}
