package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify"
	"github.com/google/go-cmp/cmp"
)

// TestMuseum: every real bug is found, by the check that the exhibit names, in an algorithm that is right without it.
func TestMuseum(t *testing.T) {
	for _, x := range museum {
		if x.isSource() {
			continue
		}
		t.Run(x.peer+" "+x.fix[strings.LastIndex(x.fix, "/")+1:], func(t *testing.T) {
			_, err := verify.Algorithm(context.Background(), &x.in, verify.Options{To: museumSize, Depths: museumDepths})
			if err != nil {
				t.Fatalf("without the mistake: %v", err)
			}
			f, err := x.verify()
			switch {
			case err != nil:
				t.Fatal(err)
			case f == nil:
				t.Fatal("not found")
			case f.Check != x.caught || !strings.Contains(f.Error(), x.says):
				t.Errorf("found by %q, want %q and the words %q:\n%v", f.Check, x.caught, x.says, f)
			}
		})
	}
}

// TestMuseumPage: the page is the museum.
func TestMuseumPage(t *testing.T) {
	page, err := os.ReadFile("../../" + museumFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(museumPage(), string(page)); d != "" {
		t.Errorf("%s (go run ./verify/mutate -write writes it anew): %s", museumFile, d)
	}
	if len(museum) < 34 {
		t.Errorf("only %d exhibits", len(museum))
	}
}

// TestMuseumOfSources: what is changed stands where the museum says, once, and the test that has to find it is there.
// That it does find it, go run ./verify/mutate -long shows.
func TestMuseumOfSources(t *testing.T) {
	for _, x := range museum {
		if !x.isSource() {
			continue
		}
		text, err := os.ReadFile("../../" + x.source.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), x.source.old); n != 1 {
			t.Errorf("%s: what is to be changed stands %d times in %s", x.fix, n, x.source.file)
		}
		files, err := filepath.Glob("../../" + x.source.pkg + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Trim(x.source.run, "^$")
		if !slices.ContainsFunc(files, func(f string) bool {
			text, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(text), "func "+name+"(")
		}) {
			t.Errorf("%s: there is no %s in %s", x.fix, name, x.source.pkg)
		}
	}
}
