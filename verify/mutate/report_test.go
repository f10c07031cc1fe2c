package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestVerdict: nothing tried, and less than was asked for, are no success.
func TestVerdict(t *testing.T) {
	killed, same, survives := fate{Rung: "a rung"}, fate{Same: true}, fate{}
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
	}{{3, 1, true}, {2, 2, false}, {8, 1, true}, {7, 2, false}, {9, 1, true}, {8, 2, false}, {0, 1, false}, {0, 0, false}, {1, 0, true}} {
		x := row{fates: append(slices.Repeat([]fate{{Rung: "a rung"}}, test.killed), make([]fate, test.survive)...), least: 0.9}
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
			{Mutant: "m1", Rung: "tests", Words: "it fails", Asked: []opinion{{"every", true, "step 3"}}},
			{Mutant: "m2", Rung: "tests", Asked: []opinion{{"every", false, ""}}}, {Mutant: "m3"},
		}},
		{kind: "models", elsewhere: true, fates: []fate{{Mutant: "m4", Rung: "model", Check: "NoLoss"}}},
	}}
	for _, test := range []struct {
		each       bool
		has, lacks string
	}{
		{false, `"rungs": [ { "rung": "tests", "killed": 2, "tried": 2 }, { "rung": "every", "killed": 1, "tried": 2 } ], "survivors": [ "m3" ]`, "m4"},
		{true, `"mutant": "m4", "rung": "model", "check": "NoLoss"`, "nothing"},
	} {
		var b bytes.Buffer
		if err := r.encode(&b, test.each); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, test.has) || strings.Contains(text, test.lacks) {
			t.Errorf("each: %v:\n%s", test.each, text)
		}
	}
	for _, line := range []string{"m1 tests it fails; rung every kills it too: step 3", "m2 tests ; rung every does not see it", "m3 survives", "m4 model: NoLoss"} {
		if text := strings.Join(strings.Fields(r.list()), " "); !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

// TestWords: of what go test prints, the first failure and its test.
func TestWords(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:7: 3, want 4\n        a_test.go:8: no\nFAIL\n": "TestA/b: 3, want 4",
		"panic: test timed out after 6s\n\trunning tests:\n\t\tTestA (6s)\n":                                                      "panic: test timed out after 6s",
		"zbarrier.go is not what would be generated\nexit status 1\n":                                                             "zbarrier.go is not what would be generated",
	} {
		if got := words(output); got != want {
			t.Errorf("%q, want %q, of\n%s", got, want, output)
		}
	}
}

// TestRungs: a rung that fails with nothing changed kills no mutant, and one that takes too long is a killer of its own.
func TestRungs(t *testing.T) {
	none := rung{name: "none", dir: ".", args: []string{"list", "./absent"}}
	if _, err := none.measure(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "nothing changed") {
		t.Error(err)
	}
	passes := rung{name: "passes", dir: ".", args: []string{"list", "."}}
	if r, err := passes.measure(t.Context(), "."); err != nil || r.limit == 0 {
		t.Error(r, err)
	}
	if killer, output := passes.run(t.Context(), ".", ""); killer != "passes" || !strings.Contains(output, "does not end") { // its limit is 0
		t.Error(killer, output)
	}
}
