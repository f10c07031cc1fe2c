package bugs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/verify"
)

// TestCommon: the check that a bug names finds it, and the counterexample says enough.
func TestCommon(t *testing.T) {
	for _, b := range slices.Concat(Common, Lengths, Constructs) {
		t.Run(b.What, func(t *testing.T) { b.check(t) })
	}
	if len(Common) < 54 || len(Constructs) < 20 {
		t.Errorf("only %d and %d bugs", len(Common), len(Constructs))
	}
}

// TestKnown: the same of the bugs of other libraries. Without the bug the algorithm is correct.
func TestKnown(t *testing.T) {
	for _, b := range Known {
		if b.IsSource() {
			continue
		}
		t.Run(b.Name(), func(t *testing.T) {
			if _, err := verify.Algorithm(t.Context(), &b.In, Options); err != nil {
				t.Fatalf("without the bug: %v", err)
			}
			b.check(t)
		})
	}
	if len(Known) < 34 {
		t.Errorf("only %d bugs", len(Known))
	}
}

// check fails t unless package verify finds the bug.
func (b *Bug) check(t *testing.T) {
	f, err := b.Verify(t.Context(), Options)
	switch {
	case err != nil:
		t.Fatal(err)
	case f == nil:
		t.Fatal("not found")
	case !b.IsFoundBy(f):
		t.Errorf("found by %q, want %q and the words %q:\n%v", f.Check, b.Check, b.Says, f)
	}
}

// TestSources: the text to replace occurs once in its file, and the test that has to find the bug exists. That it does
// find it, go run ./verify/mutate -only bugs shows.
func TestSources(t *testing.T) {
	for _, b := range Known {
		if !b.IsSource() {
			continue
		}
		text, err := os.ReadFile("../../" + b.Source.File)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), b.Source.Old); n != 1 {
			t.Errorf("%s: the text to replace occurs %d times in %s", b.Reference, n, b.Source.File)
		}
		files, err := filepath.Glob("../../" + b.Source.Package + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Trim(b.Source.Run, "^$")
		if !slices.ContainsFunc(files, func(f string) bool {
			text, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(text), "func "+name+"(")
		}) {
			t.Errorf("%s: there is no %s in %s", b.Reference, name, b.Source.Package)
		}
	}
}

// TestPage: the page in docs is Page.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../" + PageFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Page(), string(page)); d != "" {
		t.Errorf("%s (go run ./verify/mutate -write writes it anew): %s", PageFile, d)
	}
}

// TestDoubleTree: with one step for what two trees do at the same time it is correct, and needs no room in channels.
func TestDoubleTree(t *testing.T) {
	a := doubleTree(true)
	s, err := verify.Algorithm(t.Context(), &a, verify.Options{To: 32})
	if err != nil || s.Capacity != 0 || len(s.Sizes) != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}
