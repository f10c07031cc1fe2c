package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
)

// TestProve proves a family, writes the scripts, and says so as JSON.
func TestProve(t *testing.T) {
	for _, solver := range []string{"z3", "cvc5"} {
		if _, err := exec.LookPath(solver); err != nil {
			if os.Getenv("COLLGEN_SOLVERS") == "required" {
				t.Fatal(err)
			}
			t.Skipf("left out, because %s is not installed (.ci/deps prove installs it)", solver)
		}
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"prove", "-catalogue", "-json", "-smt", dir, "allgather/ring"}, &stdout, &stderr); status != 0 {
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

// TestProveRefuses has no solver, a wrong one, and a record of a part.
func TestProveRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"-solver", "z4", "send"}, "no solver"},
		{[]string{"send"}, "is not installed"},
		{[]string{"-write", "proved.txt", "send"}, "-write is for the whole catalogue"},
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
	c := newCall(command{name: "prove"}, new(bytes.Buffer), new(bytes.Buffer))
	s := &source{}
	a := gen.AllGatherRing
	a.Name = "mine"
	s.add(a, position{})
	problems, results, err := c.problems(t.Context(), s)
	if err != nil || len(problems) != 0 || len(results) != 1 || !strings.Contains(results[0].Open[0], "no invariant of the loop over s") {
		t.Errorf("%v %v %+v", problems, err, results)
	}
}
