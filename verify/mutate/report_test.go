package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestVerdict: nothing tried, and less than was asked for, are no success.
func TestVerdict(t *testing.T) {
	killed, same, survives := fate{Stage: "a stage"}, fate{Same: true}, fate{}
	nine := slices.Repeat([]fate{killed}, 9)
	for _, test := range []struct {
		row  row
		fail string
	}{
		{row{fates: append(nine, same), least: 1}, ""},
		{row{fates: append(nine, survives), least: 0.9}, ""},
		{row{fates: append(nine, survives), least: 1}, "90.0 %"},
		{row{least: 0.9}, "0.0 %"},
		{row{fates: []fate{same, same}, least: 0.9}, "0.0 %"},
		{row{fates: append(nine, same), least: 1, fewer: true}, "more were asked for"},
		{row{fates: nine[:5], elsewhere: true}, ""},
	} {
		err := (&report{rows: []row{test.row}}).verdict()
		if (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
			t.Errorf("%+v: %v", test.row, err)
		}
	}
}

// TestJudgeFew: of a few mutants one may survive, and not two; a single one may not.
func TestJudgeFew(t *testing.T) {
	for _, test := range []struct {
		killed, survive int
		ok              bool
	}{{3, 1, true}, {2, 2, false}, {8, 1, true}, {7, 2, false}, {9, 1, true}, {8, 2, false}, {0, 1, false}, {0, 0, false},
		{1, 0, true}} {
		x := row{fates: append(slices.Repeat([]fate{{Stage: "a stage"}}, test.killed), make([]fate, test.survive)...),
			least: 0.9}
		x.judgeFew()
		if err := (&report{rows: []row{x}}).verdict(); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestModelsOnPage: the page counts the configurations that there are.
func TestModelsOnPage(t *testing.T) {
	page, err := os.ReadFile("../../" + mutantsFile)
	if err != nil {
		t.Fatal(err)
	}
	r := &report{}
	if err := r.models("../.."); err != nil {
		t.Fatal(err)
	}
	x := r.rows[0]
	if line := fmt.Sprintf("| %s | %d |", x.title(), len(x.fates)); !strings.Contains(string(page), line) {
		t.Errorf("%s has no line %q", mutantsFile, line)
	}
}

// TestEncode: only what is tried elsewhere is left out, and only where nobody asks for each mutant.
func TestEncode(t *testing.T) {
	r := &report{rows: []row{
		{kind: "source", note: "of 5", fates: []fate{
			{Mutant: "m1", Stage: "tests", Words: "it fails", Asked: []opinion{{"every", true, "step 3"}}},
			{Mutant: "m2", Stage: "tests", Asked: []opinion{{"every", false, ""}}}, {Mutant: "m3"},
		}},
		{kind: "models", elsewhere: true, fates: []fate{{Mutant: "m4", Stage: "model", Check: "NoLoss"}}},
	}}
	for _, test := range []struct {
		each       bool
		has, lacks string
	}{
		{false, `"stages": [ { "stage": "tests", "killed": 2, "tried": 2 }, { "stage": "every", "killed": 1, "tried": 2 } ], "survivors": [ "m3" ]`, "m4"},
		{true, `"mutant": "m4", "stage": "model", "check": "NoLoss"`, "nothing"},
	} {
		var b bytes.Buffer
		if err := r.encode(&b, test.each); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, test.has) ||
			strings.Contains(text, test.lacks) {
			t.Errorf("each: %v:\n%s", test.each, text)
		}
	}
	for _, line := range []string{"m1 tests it fails; stage every kills it too: step 3",
		"m2 tests ; stage every does not see it", "m3 survives", "m4 model: NoLoss"} {
		if text := strings.Join(strings.Fields(r.list()), " "); !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

// TestWords: of what go test prints, the first failure and its test.
func TestWords(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:7: 3, want 4\n        " +
			"a_test.go:8: no\nFAIL\n": "TestA/b: 3, want 4",
		"panic: test timed out after 6s\n\trunning " +
			"tests:\n\t\tTestA (6s)\n": "panic: test timed out after 6s",
		"zbarrier.go is not what would be " +
			"generated\nexit status 1\n": "zbarrier.go is not what would be generated",
	} {
		if got := words(output); got != want {
			t.Errorf("%q, want %q, of\n%s", got, want, output)
		}
	}
}

// TestStages: a stage that fails with nothing changed kills no mutant, and one that takes too long is a killer of its
// own.
func TestStages(t *testing.T) {
	none := stage{name: "none", dir: ".", args: []string{"list", "./absent"}}
	if _, err := none.measure(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "nothing changed") {
		t.Error(err)
	}
	passes := stage{name: "passes", dir: ".", args: []string{"list", "."}}
	if r, err := passes.measure(t.Context(), "."); err != nil || r.limit == 0 {
		t.Error(r, err)
	}
	// its limit is 0
	if killer, output := passes.judge(t.Context(), ".", ""); killer != "passes" ||
		!strings.Contains(output, "does not end") {
		t.Error(killer, output)
	}
}

// TestTwice: what fails once and then passes kills nothing where a stage has to refuse a mutant twice.
func TestTwice(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "once.go")
	text := "package main\nimport \"os\"\nfunc main() {\n\tif os.Mkdir(os.Args[1], 0o700) == nil " +
		"{\n\t\tos.Exit(1)\n\t}\n}\n"
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := writeOverlay(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, twice := range map[string]bool{"one": false, "two": true} {
		r := stage{name: name, dir: ".", args: []string{"run", program, filepath.Join(dir, name)}, limit: time.Minute,
			cpu: time.Minute, twice: twice}
		if killer, output := r.judge(t.Context(), ".", overlay); (killer == "") != twice {
			t.Errorf("twice: %v: killed by %q: %s", twice, killer, output)
		}
	}
}

// TestSubjects: each is a package, and where tests take long fewer mutants of it are asked for.
func TestSubjects(t *testing.T) {
	for _, s := range subjects {
		if files, err := filepath.Glob("../../" + s.pkg + "/*.go"); err != nil || len(files) == 0 {
			t.Errorf("there is no package %s: %v", s.pkg, err)
		}
		for of, want := range map[int]int{-1: -1, 1: 1, 4: map[bool]int{false: 4, true: 2}[s.few]} {
			if got := s.asked(of); got != want {
				t.Errorf("%s: %d mutants where %d of each are asked for, want %d", s.pkg, got, of, want)
			}
		}
	}
	if some := chosen("ref,fast"); len(some) != 2 || some[0].pkg != "ref" || len(chosen("")) != len(subjects) ||
		len(chosen("moon")) != 0 {
		t.Errorf("chosen: %v", some)
	}
}

// TestSourceMutants: package fast has mutants, and what is generated in it has none.
func TestSourceMutants(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all, err := sourceMutants(root, "fast")
	if err != nil || len(all) < 1000 {
		t.Errorf("%d mutants, %v", len(all), err)
	}
	for _, p := range all {
		if strings.HasPrefix(filepath.Base(p.file), "z") {
			t.Fatalf("%v: it is generated", p)
		}
	}
}
