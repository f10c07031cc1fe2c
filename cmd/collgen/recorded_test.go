package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// TestRecall takes over what the files of package fast say, and no more than that.
func TestRecall(t *testing.T) {
	s := builtIn("")
	if dir := s.generatedDir(t.Context()); filepath.Base(dir) != "fast" {
		t.Errorf("package fast is in %q", dir)
	}
	if err := s.recall(fastDir); err != nil {
		t.Fatal(err)
	}
	for _, a := range s.algorithms {
		var sizes []int
		for size := 1; size <= verify.MaxSize; size++ {
			if len(a.Calls(size, 1)) > 0 {
				sizes = append(sizes, size)
			}
		}
		if !a.proved || filepath.Base(a.recorded) != golang.FileName(a.Primitive) || !slices.Equal(a.proof.Sizes, sizes) {
			t.Errorf("%s: recorded in %q for sizes %v", a.FullName(), a.recorded, a.proof.Sizes)
		}
		if isReduction := !slices.Contains([]string{"AllGather", "AllToAll", "Barrier", "Broadcast", "Gather", "Scatter",
			"Send"}, strings.TrimSuffix(a.Primitive.Name, "V")); a.proof.Folds != isReduction {
			t.Errorf("%s: folds %v", a.FullName(), a.proof.Folds)
		}
	}
	if found, err := s.match("reducescatter/direct"); err != nil || found[0].proof.Order != spec.RankOrdered {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestRecallChanged proves what is not the algorithm that was proved.
func TestRecallChanged(t *testing.T) {
	s := builtIn("")
	found, err := s.match("send/direct")
	if err != nil {
		t.Fatal(err)
	}
	found[0].Requires.OutOfPlace = true
	if err := s.recall(fastDir); err != nil {
		t.Fatal(err)
	}
	if found[0].proved {
		t.Error("the record is of another algorithm")
	}
}

// TestReadRecord reads comments as emit prints them, and nothing from others.
func TestReadRecord(t *testing.T) {
	const good = "f is same/copy. It copies.\n\nProved for sizes 1, 2, 4..6, 8, all roots, depths 1..4 (up to size 8 " +
		"also\n5..8), in place (9 schedules): x. Order: same tree on all ranks.\n\nSpecification 0x1.\nAlgorithm " +
		"0x0123456789abcdef.\n"
	got := map[string]recorded{}
	readRecord(got, "z.go", good)
	r := got["same/copy 0x0123456789abcdef"]
	if !slices.Equal(r.proof.Sizes, []int{1, 2, 4, 5, 6, 8}) || !slices.Equal(r.proof.Depths, []int{1, 2, 3, 4}) ||
		!r.proof.Folds || r.proof.Order != spec.SameTree || r.file != "z.go" {
		t.Errorf("%+v", got)
	}
	members := "f has n for a parameter. It copies.\n\n" + strings.ReplaceAll(good, "f is same/copy",
		"With n 2, it is same/copy-2") +
		"\n" + strings.NewReplacer("f is same/copy", "With n 3, it is same/copy-3", "1, 2, 4..6, 8", "1..3").Replace(good)
	got = map[string]recorded{}
	readRecord(got, "z.go", members)
	if x, y := got["same/copy-2 0x0123456789abcdef"].proof, got["same/copy-3 0x0123456789abcdef"].proof; len(got) != 2 ||
		len(x.Sizes) != 6 || len(y.Sizes) != 3 {
		t.Errorf("of members: %+v", got)
	}
	for _, part := range []string{"f is same/copy. ", "Proved for sizes", "0123", "Algorithm"} {
		got := map[string]recorded{}
		if readRecord(got, "z.go", strings.Replace(good, part, "", 1)); len(got) > 0 {
			t.Errorf("without %q: %+v", part, got)
		}
	}
	for _, bad := range [][2]string{{"4..6", "6..4"}, {"8, all", "9999, all"}, {"1..4 (", "4..1 ("},
		{"same tree", "some tree"}} {
		got := map[string]recorded{}
		if readRecord(got, "z.go", strings.Replace(good, bad[0], bad[1], 1)); len(got) > 0 {
			t.Errorf("with %q: %+v", bad[1], got)
		}
	}
}

// TestShown shows the algorithms of the package in the current folder, and the catalogue where there are none.
func TestShown(t *testing.T) {
	theirs := module(t, map[string]string{"a.go": small("theirs", shift)})
	none := module(t, map[string]string{"a.go": "package theirs\n\nimport \"github.com/collgen/collgen/gen\"\n\nconst x " +
		"= gen.SendInstr\n"})
	broken := module(t, map[string]string{"a.go": small("theirs", shift) + "\nfunc {\n"})
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir, args string
		status    int
		want      string
	}{
		{theirs, "list", 0, "Package example.org/theirs.\n"},
		{theirs, "verify -n 1..3", 0, "Package example.org/theirs.\n"},
		{theirs, "explain same/copy", 0, "Package example.org/theirs.\n"},
		{theirs, "list barrier -catalogue", 0, "The built-in catalogue.\n"},
		{none, "list barrier -n 2", 0, "The built-in catalogue.\n"},
		{broken, "list", statusFailed, "a.go:"},
		{broken, "list", statusFailed, "collgen list -catalogue shows"},
		{t.TempDir(), "list barrier", 0, "The built-in catalogue.\n"},
		{root, "list barrier", 0, "The built-in catalogue.\n"},
		{filepath.Join(root, "fast"), "list barrier", 0, "The built-in catalogue.\n"},
		{filepath.Join(root, "gen"), "list barrier", 0, "The built-in catalogue.\n"},
	} {
		t.Chdir(test.dir)
		status, stdout, stderr := collgen(t, strings.Fields(test.args)...)
		if status != test.status || !strings.Contains(stdout+stderr, test.want) {
			t.Errorf("collgen %s in %s: status %d, want %q in\n%s%s", test.args, test.dir, status, test.want, stdout, stderr)
		}
	}
}
