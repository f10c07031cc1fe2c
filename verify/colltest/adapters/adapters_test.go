package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify/colltest"
)

// TestSample runs those that are installed, and compiled in a second, on few ranks. make conform-peers runs all.
func TestSample(t *testing.T) {
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for _, e := range []entrant{openMPI("overflow"), mpich(append([]string{"Reduce/in-place"}, unsigned...)...)} {
		t.Run(e.name, func(t *testing.T) {
			if _, err := exec.LookPath(e.compile[0]); err != nil {
				t.Skipf("left out: %v; make conform-peers installs it", err)
			}
			r := w.enter(t.Context(), &e, options{ranks: 2, checks: 5, primitives: []string{"Broadcast", "Gather", "AllGather", "AllToAll", "Send"}})
			if r.missing != nil || r.unknown() > 0 || r.calls() < 100 {
				t.Errorf("%v, %v, %d calls", r.missing, r.failures, r.calls())
			}
		})
	}
}

// TestNewFailures: what fails is new unless it is known for that primitive, and the table says which.
func TestNewFailures(t *testing.T) {
	e := gloo("ring").fails("C4", "AllReduce").fails("C2", "AllGather", "Barrier")
	failure := &colltest.Failure{Case: colltest.Case{Size: 1}}
	r := &result{entrant: &e, tested: map[string]colltest.Counts{"AllReduce": {Calls: 1}, "AllGather": {Calls: 2}, "Send": {Calls: 4}, "Reduce": {}},
		failures: map[string]*colltest.Failure{"AllReduce": failure, "Send": failure}}
	want := []string{"-", "-", "-", "ok", "not C2", "C4", "-", "-", "-", "NEW"}
	if got := r.cells(); !slices.Equal(got, want) || r.unknown() != 1 || r.calls() != 7 {
		t.Errorf("%q, %d new of %d calls; want %q", got, r.unknown(), r.calls(), want)
	}
	var out strings.Builder
	write(&out, []*result{r, {entrant: &e, missing: errors.New("no compiler")}})
	for _, says := range []string{"New: Gloo ring, Send", "left out: no compiler"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("%q is not said: %s", says, &out)
		}
	}
}

// TestSections: every known failure has its section in docs/peers.md.
func TestSections(t *testing.T) {
	text, err := os.ReadFile("../../../docs/peers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entrants {
		for primitive, section := range e.known {
			if !regexp.MustCompile(`(?m)^### ` + section + `\. `).Match(text) {
				t.Errorf("%s, %s: docs/peers.md has no section %s", e.title(), primitive, section)
			}
			if !slices.Contains(columns, primitive) {
				t.Errorf("%s: there is no column for %s", e.title(), primitive)
			}
		}
	}
}
