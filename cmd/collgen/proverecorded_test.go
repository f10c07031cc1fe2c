package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify/smtproof"
)

// counted puts programs in the place of both solvers that are of these versions and prove everything. The function that
// it returns says how many scripts both have got.
func counted(t *testing.T, versions ...string) (scripts func() int) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	for i, name := range []string{"z3", "cvc5"} {
		text := "#!/bin/sh\nif test $1 = --version; then echo version " + versions[i] + "; exit; fi\n" +
			"n=$(grep -c 'collgen: end of script')\n" +
			"for i in $(seq $n); do echo asked >>" + log + "; echo unsat; echo 'collgen: end of script'; done\n"
		write(t, filepath.Join(dir, name), text)
		if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() int {
		t.Helper()
		return strings.Count(read(t, log), "asked\n")
	}
}

// TestProveRecorded has a package whose record is of its algorithms, and then one of whose invariants or algorithms has
// changed. Of that one the solvers are asked again; without -recorded or in other versions, of all.
func TestProveRecorded(t *testing.T) {
	files := ownFiles(t)
	versions := records(t, files[recordName])[0].Versions
	lemmas := 0 // for how many scripts both are asked when everything is recorded
	for _, test := range []struct {
		is       string
		from, to string // in the algorithms
		args     []string
		versions []string
		asked    []string // of which algorithms
	}{
		{is: "recorded", args: []string{"-recorded"}, versions: versions},
		{is: "by hand", versions: versions, asked: []string{"neighbours/ring", "neighbours/shifts"}},
		{is: "newer solvers", args: []string{"-recorded"}, versions: []string{"99", "99"},
			asked: []string{"neighbours/ring", "neighbours/shifts"}},
		{"an invariant", "spec.Lt(gen.Cell, spec.Var(\"turn\"))", "spec.Le(gen.Cell, spec.Var(\"turn\"))",
			[]string{"-recorded"}, versions, []string{"neighbours/shifts"}},
		{"an algorithm", "if turn == 0 then next else prev", "if turn == 0 then prev else next",
			[]string{"-recorded"}, versions, []string{"neighbours/shifts"}},
	} {
		t.Run(test.is, func(t *testing.T) {
			text := files["exchange.go"]
			changed := strings.Replace(text, test.from, test.to, 1)
			if (changed == text) != (test.from == test.to) {
				t.Fatalf("%q is not in the example", test.from)
			}
			dir := module(t, map[string]string{"exchange.go": changed, recordName: files[recordName]})
			scripts := counted(t, test.versions...)
			status, stdout, stderr := collgen(t, append([]string{"prove", "-json", "-package", dir}, test.args...)...)
			if isStale := test.from != ""; isStale != (status == statusFailed) ||
				isStale != strings.Contains(stderr, "what was proved of neighbours/shifts is not recorded") {
				t.Errorf("status %d: %s", status, stderr)
			}
			var results []provedEvery
			if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&results); err != nil || len(results) != 2 {
				t.Fatalf("%v: %s", err, stdout)
			}
			asked := 0
			for _, x := range results {
				if x.Recorded == slices.Contains(test.asked, x.Algorithm) {
					t.Errorf("%s: recorded is %v", x.Algorithm, x.Recorded)
				}
				if !x.Recorded {
					asked += 2 * x.Obligations
				}
			}
			n := scripts()
			if len(test.asked) == 0 {
				lemmas = n
			}
			if n != lemmas+asked || lemmas == 0 {
				t.Errorf("the solvers got %d scripts, of which %d are of lemmas; want %d others", n, lemmas, asked)
			}
		})
	}
}

// TestProveSaysRecorded: the table says of which algorithms the solvers were not asked again.
func TestProveSaysRecorded(t *testing.T) {
	var stdout strings.Builder
	c := &proveCommand{call: &call{stdout: &stdout}}
	both := smtproof.Record{Algorithm: "a/b", Digest: "0x1", Sizes: "all", Obligations: 3, Solvers: []string{"z3", "cvc5"}}
	for recorded, want := range map[bool]int{false: 0, true: 2} {
		stdout.Reset()
		if err := c.showProved(&source{}, []provedEvery{{Record: both, Recorded: recorded}}, 0); err != nil ||
			strings.Count(stdout.String(), "recorded") != want {
			t.Errorf("recorded is %v: %v\n%s", recorded, err, &stdout)
		}
	}
}
