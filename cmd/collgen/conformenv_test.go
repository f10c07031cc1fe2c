package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConformEnv: each value has its run, what fails with one is seen there alone, and the printed command repeats it.
func TestConformEnv(t *testing.T) {
	t.Setenv("SPOIL", "yes")
	junit := filepath.Join(t.TempDir(), "report.xml")
	status, out, errs := conform(t, "variable", "-json", "-env", "SPOIL=no,yes,,-", "-env", "A=b c",
		"-patience", "19s", "-without", "nan", "-junit", junit)
	var all struct {
		Runs []struct {
			Environment map[string]*string
			Failures    []failedCase
		}
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || status != statusFailed || len(all.Runs) != 4 {
		t.Fatalf("status %d, %v\n%s\n%s", status, err, out, errs)
	}
	for i, want := range []string{"no", "yes", "", "unset"} {
		r := all.Runs[i]
		if v := r.Environment["SPOIL"]; (v == nil) != (want == "unset") || v != nil && *v != want ||
			*r.Environment["A"] != "b c" || len(r.Failures) != map[bool]int{true: 1}[want == "yes"] {
			t.Errorf("SPOIL %s: %+v", want, r)
		}
	}
	if s := readJUnit(t, junit); len(s.Suites) != 4 || s.Failures != 1 || s.named(1, "Broadcast int8").Failure == nil ||
		s.Suites[1].Name != "collgen conform, SPOIL=yes, A=b c" {
		t.Errorf("%+v", s)
	}
	if errs != "SPOIL=yes, A=b c: it does not do what the specifications say\n" {
		t.Errorf("it says %q", errs)
	}
	again := all.Runs[1].Failures[0].Repeat
	if !strings.HasPrefix(again, "env SPOIL=yes 'A=b c' collgen conform -ranks 1 -patience 19s -without nan -case '{") {
		t.Errorf("it is repeated by %s", again)
	}
	if status, out := shell(t, again, "SPOIL=no"); status != statusFailed || !strings.Contains(out, "element 0 is -1") {
		t.Errorf("again: status %d, %s", status, out)
	}
	for _, other := range []string{"env SPOIL=no ", "env -u SPOIL "} {
		if status, out := shell(t, strings.Replace(again, "env SPOIL=yes ", other, 1)); status != 0 {
			t.Errorf("%s: status %d, %s", other, status, out)
		}
	}
}

// TestConformEnvTable: the table has a heading for each environment, and TAP has it before each point. One in which the
// command does not start is an error, and the others are tested.
func TestConformEnvTable(t *testing.T) {
	status, out, errs := conform(t, "variable", "-env", "SPOIL=start,-")
	for _, want := range []string{"SPOIL=start\n===========\n", "error: ", "SPOIL unset\n===========\na shell, on 1 ranks",
		"\nSPOIL=start: error\nSPOIL unset: conforms\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if status != statusFailed || !strings.Contains(errs, "SPOIL=start: ") || strings.Contains(errs, "unset") {
		t.Errorf("status %d, %s", status, errs)
	}
	_, out, _ = conform(t, "variable", "-env", "SPOIL=start,-", "-tap")
	x := readTAP(t, out)
	for name, want := range map[string]bool{"SPOIL=start: the test itself": false, "SPOIL unset: Broadcast": true} {
		if i := slices.IndexFunc(x.points, func(p tapPoint) bool { return p.name == name }); i < 0 || x.points[i].ok != want {
			t.Errorf("%s: %+v", name, x.points)
		}
	}
}

// TestMatrix reads values, in which a backslash takes the meaning from what follows.
func TestMatrix(t *testing.T) {
	for text, want := range map[string]string{
		`A=b`: "A=b", `A=`: "A=", `A=,b,`: "", `A=-`: "A unset", `A=\-`: "A=-", `A=-,\-`: "A unset|A=-",
		`A=b,,c d`: "A=b|A=|A=c d", `A=self\,tcp,\\`: `A=self,tcp|A=\`, `A=x=y,--`: "A=x=y|A=--",
		"A": "", "=b": "", `A=\`: "", "A=b,b": "", "A B=c": "", "-A=c": "", "COLLGEN_CONFORM=x": "", "A=\x00": "",
		"A=\xff": "A=\xff",
	} {
		var m matrix
		err := m.Set(text)
		var texts []string
		for _, e := range m.environments() {
			texts = append(texts, e.String())
		}
		if got := strings.Join(texts, "|"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, want %q; %v", text, got, want, err)
		}
	}
	var m matrix
	for _, text := range []string{"A=1,2", "B=3,4"} {
		if err := m.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	var texts []string
	for _, e := range m.environments() {
		texts = append(texts, e.String())
	}
	if got := strings.Join(texts, "|"); got != "A=1, B=3|A=1, B=4|A=2, B=3|A=2, B=4" {
		t.Errorf("all combinations: %s", got)
	}
	if m.Set("A=5") == nil {
		t.Error("a variable twice is no error")
	}
	many := "C=0"
	for i := range 300 {
		many += "," + strings.Repeat("x", i)
	}
	if m.Set(many) == nil {
		t.Error("1204 combinations are no error")
	}
}

// TestQuoted: a shell reads words as they were.
func TestQuoted(t *testing.T) {
	words := []string{"", "a b", "it's", `"$HOME"`, `\`, "{n}", "*", "A=b", "\t\n", "é", "!x", "^", "-x", "%1", "#", "~"}
	line := "printf '<%s>'"
	for _, word := range words {
		line += " " + quoted(word)
	}
	if status, out := shell(t, line); status != 0 || out != "<"+strings.Join(words, "><")+">" {
		t.Errorf("%s: %q", line, out)
	}
}
