package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify/colltest"
)

// TestSample runs those that are installed, on few ranks. make conform-peers runs all.
func TestSample(t *testing.T) {
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	left := append([]string{"Reduce/in-place", "persistent"}, unsigned...)
	for _, e := range []entrant{openMPI("overflow").fails(emptyRank, "AllToAll"), mpich(left...), mpi4py(), torch("")} {
		t.Run(e.name, func(t *testing.T) {
			err := e.absent()
			if err == nil && e.compile != nil {
				// The compiler comes with the launcher's package, its header with another.
				err = exec.Command(e.compile[0], "-E", "-include", "mpi.h", "-x", "c", os.DevNull).Run()
			}
			if err != nil {
				t.Skipf("left out: %v; make conform-peers installs it", err)
			}
			r := w.enter(t.Context(), &e, options{ranks: 2, checks: 5, primitives: []string{"Broadcast", "Gather", "AllGather",
				"AllToAll", "Send"}})
			if err := r.wrong(); err != nil {
				t.Errorf("%v: %v", err, r.failures)
			}
		})
	}
}

// TestNewFailures: what fails is new unless it is known for that primitive, and the table says which.
func TestNewFailures(t *testing.T) {
	so := func(section string) known { return isKnown(section, "as known") }
	e := gloo("ring").fails(so("C4"), "AllReduce").fails(so("C2"), "AllGather", "Barrier", "Scatter")
	failure := &colltest.Failure{Case: colltest.Case{Size: 1},
		Problems: []colltest.Problem{{Rank: -1, Text: "it fails as known"}}}
	other := &colltest.Failure{Case: colltest.Case{Size: 1},
		Problems: []colltest.Problem{{Rank: -1, Text: "it fails in another way"}}}
	r := &result{entrant: &e, tested: map[string]colltest.Counts{"AllReduce": {Calls: 1}, "AllGather": {Calls: 2},
		"Send": {Calls: 4}, "Reduce": {}, "Scatter": {}},
		failures: map[string][]*colltest.Failure{"AllReduce": {failure}, "Send": {failure}, "Scatter": {other}}}
	want := []string{"-", "NEW", "-", "ok", "not C2", "C4", "-", "-", "-", "NEW", "-", "-", "-", "-", "-"}
	if got := r.cells(); !slices.Equal(got, want) || r.unknown() != 2 || r.calls() != 7 {
		t.Errorf("%q, %d new of %d calls; want %q", got, r.unknown(), r.calls(), want)
	}
	var out strings.Builder
	write(&out, []*result{r, {entrant: &e, missing: errors.New("no compiler")}})
	for _, says := range []string{"New: Gloo ring, Send", "New: Gloo ring, Scatter", "not tested: no compiler"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("%q is not said: %s", says, &out)
		}
	}
}

// TestWrong: an entrant that cannot be built, that crashes, that has done next to nothing or that is not there, is an
// error.
func TestWrong(t *testing.T) {
	e := gloo("ring")
	enough := map[string]colltest.Counts{"Send": {Calls: leastCalls}}
	for _, c := range []struct {
		r    result
		want string
	}{
		{result{entrant: &e, tested: enough, missing: errors.New("no compiler")}, "no compiler"},
		{result{entrant: &e, tested: enough, failures: map[string][]*colltest.Failure{"Send": {{
			Problems: []colltest.Problem{{}}}}}}, "1 failures that are new"},
		{result{entrant: &e, tested: map[string]colltest.Counts{"Send": {Calls: leastCalls - 1}}}, "99 calls"},
	} {
		if err := c.r.wrong(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := (&result{entrant: &e, tested: enough}).wrong(); err != nil {
		t.Error(err)
	}
	if err := run(t.Context(), options{ranks: 2, only: "zzz"}, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "zzz") {
		t.Error(err)
	}
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for _, absent := range []entrant{{name: "a compiler that is not there", compile: []string{"collgen-no-compiler"}},
		{name: "a program that ends at once", compile: []string{"true"}, command: []string{"false"}}} {
		if r := w.enter(t.Context(), &absent, options{ranks: 1}); r.wrong() == nil || r.missing == nil {
			t.Errorf("%s: %v", absent.name, r.wrong())
		}
	}
}

// TestSections: every known failure has its section, and every section is that of one.
func TestSections(t *testing.T) {
	var want []string
	for _, e := range entrants {
		for primitive, all := range e.known {
			for _, known := range all {
				want = append(want, known.section)
			}
			if !slices.Contains(columns, primitive) {
				t.Errorf("%s: there is no column for %s", e.title(), primitive)
			}
		}
	}
	slices.Sort(want)
	names, err := fs.Glob(texts, "peers/*[0-9].md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range names {
		section := strings.TrimSuffix(path.Base(name), ".md")
		got = append(got, section)
		if text, err := fs.ReadFile(texts, name); err != nil || !strings.HasPrefix(string(text), "### "+section+". ") {
			t.Errorf("%s does not begin with its name, %v", name, err)
		}
	}
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("there are sections %q, want %q", got, want)
	}
}

// TestDocument: docs/lab/peers.md is what the kept rows and the texts give, with a row for each entrant.
func TestDocument(t *testing.T) {
	rows, err := keptRows(texts, "peers/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := document(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/lab/peers.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/lab/peers.md is not what the rows give: " +
			"go run ./verify/colltest/adapters -kept -write docs/lab/peers.md")
	}
	for i := range entrants {
		title := entrants[i].title()
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Entrant == title && len(r.Cells) == len(columns) }) {
			t.Errorf("there is no row of %s", title)
		}
	}
}

// TestMerge: a result replaces its entrant's row, what could not be tested leaves it, and rows of others stay.
func TestMerge(t *testing.T) {
	first, second, third := &entrants[0], &entrants[1], &entrants[2]
	old := []row{{Entrant: first.title(), Version: "1"}, {Entrant: second.title(), Version: "1"},
		{Entrant: third.title(), Version: "1"}, {Entrant: "no longer there"}}
	rows := merge(old, options{ranks: 2, checks: 3}, []*result{{entrant: second, version: "2"},
		{entrant: third, missing: errAbsent}})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Version, r.Ranks))
	}
	if !slices.Equal(got, []string{"10", "22", "10"}) || rows[1].Entrant != second.title() {
		t.Errorf("%+v", rows)
	}
}

// TestAbsent: a library that is not installed is said not to be tested, which is no error.
func TestAbsent(t *testing.T) {
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	r := w.enter(t.Context(), &entrant{name: "none", has: []string{"test", "-e", "{peers}/none"}}, options{ranks: 1})
	var out strings.Builder
	write(&out, []*result{r})
	if r.wrong() != nil || !strings.Contains(out.String(), "none was not tested: it is not installed: test -e") {
		t.Errorf("%v: %s", r.wrong(), &out)
	}
}
