package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestVerdict: nothing tried, and less than was asked for, are no success.
func TestVerdict(t *testing.T) {
	killed := map[string]int{"a test": 9}
	for _, test := range []struct {
		row  row
		fail string
	}{
		{row{mutants: 10, same: 1, killers: killed, least: 1}, ""},
		{row{mutants: 10, killers: killed, least: 0.9}, ""},
		{row{mutants: 10, killers: killed, least: 1}, "90.0 %"},
		{row{least: 0.9}, "0.0 %"},
		{row{mutants: 2, same: 2, least: 0.9}, "0.0 %"},
		{row{mutants: 10, same: 1, killers: killed, least: 1, fewer: true}, "more were asked for"},
		{row{mutants: 5, countedOnly: true}, ""},
	} {
		err := (&report{[]row{test.row}}).verdict()
		if (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
			t.Errorf("%+v: %v", test.row, err)
		}
	}
}

// TestEncode: only what is tried elsewhere is left out.
func TestEncode(t *testing.T) {
	var b bytes.Buffer
	if err := (&report{[]row{{kind: "source", note: "of 5"}, {kind: "models", countedOnly: true}}}).encode(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"source"`) || strings.Contains(b.String(), `"models"`) {
		t.Error(b.String())
	}
}

// TestRungs: a rung that fails with nothing changed kills no mutant, and one that takes too long is a killer of its own.
func TestRungs(t *testing.T) {
	if _, err := baseline(".", []rung{{name: "none", dir: ".", args: []string{"list", "./absent"}}}); err == nil || !strings.Contains(err.Error(), "nothing changed") {
		t.Error(err)
	}
	passes := rung{name: "passes", dir: ".", args: []string{"list", "."}}
	if rungs, err := baseline(".", []rung{passes}); err != nil || rungs[0].limit == 0 {
		t.Error(rungs, err)
	}
	if killer, output := passes.run(".", ""); killer != timeout { // its limit is 0
		t.Error(killer, output)
	}
}
