package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/smtproof"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestProve proves a family, writes the scripts, and says so as JSON.
func TestProve(t *testing.T) {
	needSolvers(t)
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"prove", "-catalogue", "-json", "-smt", dir, "allgather/ring"}, &stdout,
		&stderr); status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	var results []provedEvery
	if err := json.Unmarshal(stdout.Bytes(), &results); err != nil || len(results) != 1 {
		t.Fatalf("%v: %s", err, &stdout)
	}
	if r := results[0]; r.Sizes != "all" || r.Obligations < 10 || len(r.Open) > 0 || len(r.Solvers) != 2 {
		t.Errorf("got %+v", r)
	}
	scripts, err := filepath.Glob(filepath.Join(dir, "allgather", "ring", "*.smt2"))
	if err != nil || len(scripts) != results[0].Obligations {
		t.Errorf("%d scripts, %v", len(scripts), err)
	}
	text, err := os.ReadFile(scripts[0])
	if err != nil || !strings.Contains(string(text), "(check-sat)") {
		t.Errorf("%v: %s", err, text)
	}
}

// needSolvers leaves the test out where a solver is missing, unless COLLGEN_SOLVERS is required.
func needSolvers(t *testing.T) {
	t.Helper()
	for _, solver := range []string{"z3", "cvc5"} {
		if _, err := exec.LookPath(solver); err != nil {
			if os.Getenv("COLLGEN_SOLVERS") == "required" {
				t.Fatal(err)
			}
			t.Skipf("left out, because %s is not installed (.ci/deps prove installs it)", solver)
		}
	}
}

// TestProveTheirs proves the algorithms of the example, as the owner of a module does, writes the record that is in the
// example, and quotes it.
func TestProveTheirs(t *testing.T) {
	needSolvers(t)
	t.Parallel()
	files := ownFiles(t)
	want := files[recordName]
	delete(files, recordName)
	dir := module(t, files)
	if status, _, stderr := collgen(t, "prove", "-package", dir); status != statusFailed ||
		!strings.Contains(stderr, "is not recorded") {
		t.Errorf("status %d: %s", status, stderr)
	}
	status, _, stderr := collgen(t, "prove", "-write", "-package", dir)
	if d := cmp.Diff(records(t, want), records(t, read(t, filepath.Join(dir, recordName))),
		cmpopts.IgnoreFields(smtproof.Record{}, "Versions")); status != 0 || d != "" {
		t.Errorf("status %d, and not the record of the example: %s%s", status, stderr, d)
	}
	if n := strings.Count(stderr, "obligations, and none before\n"); n != len(records(t, want)) {
		t.Errorf("what is new in the record is said of %d algorithms: %s", n, stderr)
	}
	var entries []entry
	decode(t, &entries, "list", "-json", "-n", "3", "-package", dir)
	for _, e := range entries {
		if e.Every == nil || e.Every.Sizes != "all" {
			t.Errorf("%s: %+v", e.Name, e.Every)
		}
	}
	write(t, filepath.Join(dir, recordName), "neighbours/ring all")
	if status, _, stderr := collgen(t, "list", "-package", dir); status != statusFailed ||
		!strings.Contains(stderr, recordName+": not a record") {
		t.Errorf("with a broken record, status %d: %s", status, stderr)
	}
}

func records(t *testing.T, text string) []smtproof.Record {
	t.Helper()
	list, err := smtproof.ReadRecords([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestProveForgotten has an author who forgets the invariant, and one who says too little: the message says what is
// missing.
func TestProveForgotten(t *testing.T) {
	needSolvers(t)
	t.Parallel()
	files := ownFiles(t)
	from, to := strings.Index(files["exchange.go"], "\tHints: "), strings.LastIndex(files["exchange.go"], "\tCost: ")
	for hints, want := range map[string]string{
		"": "its Hints have no invariant of the loop over turn, which has to say which cells of out hold what before " +
			"each turn, over rank, size, prev, next, to, from and turn\n",
		"\tHints: gen.Hints{Loops: make([]gen.Invariant, 1)},\n": "it may be the invariant of the loop over turn that is " +
			"wrong, or says too little, since nothing is known of cell 1 of out on rank 0\n",
	} {
		text := files["exchange.go"]
		dir := module(t, map[string]string{"exchange.go": text[:from] + hints + text[to:]})
		if status, _, stderr := collgen(t, "prove", "-package", dir, "neighbours/shifts"); status != statusFailed ||
			!strings.Contains(stderr, want) {
			t.Errorf("status %d, want %q in %s", status, want, stderr)
		}
	}
}

// TestProveRefuses has no solver, a wrong one, and a record of a part.
func TestProveRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"-solver", "z4", "send"}, "no solver"},
		{[]string{"send"}, "is not installed"},
		{[]string{"-write", "send"}, "-write is for all algorithms"},
		{[]string{"-solver", "z3", "nothing"}, "no algorithm's name begins"},
	} {
		t.Run(test.says, func(t *testing.T) {
			if test.says == "is not installed" {
				t.Setenv("PATH", t.TempDir())
			}
			var stdout, stderr bytes.Buffer
			args := append([]string{"prove", "-catalogue"}, test.args...)
			if status := run(t.Context(), args, &stdout, &stderr); status == 0 || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("status %d: %s", status, &stderr)
			}
		})
	}
}

// TestProveWithoutInvariant has an algorithm for whose loop nobody has written an invariant: nothing is proved of it.
func TestProveWithoutInvariant(t *testing.T) {
	_, r := newCall(command{name: "prove", prepare: prepareProve}, new(bytes.Buffer), new(bytes.Buffer))
	c := r.(*proveCommand)
	s := &source{}
	a := catalogue.AllGatherRing
	a.Name, a.Hints = "mine", gen.Hints{}
	s.add(a, position{})
	problems, results, err := c.problems(t.Context(), s)
	if err != nil || len(problems) != 0 || len(results) != 1 || !strings.Contains(results[0].Open[0],
		"no invariant of the loop over s") {
		t.Errorf("%v %v %+v", problems, err, results)
	}
}

// TestProveTried has algorithms without an invariant, which serve so many ranks: those that are all tried need none and
// have no record, and one rank more is too many.
func TestProveTried(t *testing.T) {
	for most, isTried := range map[int]bool{verify.MaxSize: true, verify.MaxSize + 1: false} {
		var stdout, stderr strings.Builder
		c := &proveCommand{call: &call{stdout: &stdout, stderr: &stderr}}
		s := &source{dir: t.TempDir()}
		a := catalogue.AllGatherRing
		a.Hints, a.Requires.Size = gen.Hints{}, spec.Le(spec.Size, spec.Int(most))
		s.add(a, position{})
		_, results, err := c.problems(t.Context(), s)
		if err != nil || len(results) != 1 || results[0].isTried() != isTried || (len(results[0].Open) == 0) != isTried {
			t.Errorf("up to %d: %v %+v", most, err, results)
		}
		if err := c.showProved(s, results, 0); err != nil || strings.Contains(stdout.String(), "1..64") != isTried {
			t.Errorf("up to %d: %v\n%s", most, err, &stdout)
		}
		if !isTried {
			continue
		}
		c.write = true
		if err := c.recordProved(t.Context(), s, nil, results); err != nil || stderr.Len() > 0 {
			t.Errorf("up to %d: %v, %s", most, err, &stderr)
		}
	}
}

// TestProveNeedsLemmas has a program in the place of a solver that proves everything except the lemmas, which come
// first.
func TestProveNeedsLemmas(t *testing.T) {
	dir := t.TempDir()
	text := "#!/bin/sh\ntest $1 != --version || exit\nn=$(grep -c 'collgen: end of script')\nanswer=unsat\n" +
		"if mkdir " + dir + "/ran 2>/dev/null; then answer=$1; fi\n" +
		"for i in $(seq $n); do echo $answer; echo 'collgen: end of script'; done\n"
	for answer, status := range map[string]int{"unsat": 0, "unknown": statusFailed} {
		write(t, filepath.Join(dir, "z3"), strings.Replace(text, "answer=$1", "answer="+answer, 1))
		if err := errors.Join(os.Chmod(filepath.Join(dir, "z3"), 0o700),
			os.RemoveAll(filepath.Join(dir, "ran"))); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		got, _, stderr := collgen(t, "prove", "-catalogue", "-solver", "z3", "broadcast/binomial")
		if got != status || strings.Contains(stderr, "is not proved: z3 says") != (status != 0) {
			t.Errorf("lemmas are %s: status %d: %s", answer, got, stderr)
		}
	}
}

// TestNotRecorded: one algorithm that the record does not have, or of which it has another proof, is enough for an
// error.
func TestNotRecorded(t *testing.T) {
	recorded := []smtproof.Record{{Algorithm: "a/b", Digest: "0x1", Sizes: "all", Obligations: 3, Solvers: []string{"z3"}}}
	for _, x := range []struct {
		name, digest string
		want         string
	}{{"a/b", "0x1", ""}, {"a/b", "0x2", "what was proved of a/b is not recorded"},
		{"a/c", "0x1", "of a/c is not recorded"}} {
		c := &proveCommand{call: &call{stderr: io.Discard}}
		err := c.recordProved(t.Context(), &source{}, recorded, []provedEvery{{Record: smtproof.Record{Algorithm: x.name,
			Digest: x.digest, Sizes: "all", Obligations: 3, Solvers: []string{"z3"}}}})
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s, %s: %v, want %q", x.name, x.digest, err, x.want)
		}
	}
}

// TestRecordNotWritten: what could not be written is not said to be recorded.
func TestRecordNotWritten(t *testing.T) {
	results := []provedEvery{{Record: smtproof.Record{Algorithm: "a/b", Digest: "0x1", Sizes: "all", Obligations: 3,
		Solvers: []string{"z3"}}}}
	for dir, isWritten := range map[string]bool{t.TempDir(): true, filepath.Join(t.TempDir(), "missing"): false} {
		var stderr strings.Builder
		c := &proveCommand{call: &call{stderr: &stderr}}
		c.write = true
		err := c.recordProved(t.Context(), &source{dir: dir}, nil, results)
		if (err == nil) != isWritten || strings.Contains(stderr.String(), "recorded of a/b: 3 obligations") != isWritten {
			t.Errorf("written: %v, %v: %q", isWritten, err, stderr.String())
		}
	}
}
