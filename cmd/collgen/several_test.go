package main

import (
	"strings"
	"testing"
)

// TestSeveralFail has four algorithms, made by a function, of which two are wrong: verify reports both with where they
// stand, and what was proved of the others.
func TestSeveralFail(t *testing.T) {
	t.Parallel()
	const before, after = "var copying = gen.Algorithm{\n\tName: \"copy\"", "\tCost: gen.Cost{"
	text := small("theirs", shift)
	from, to := strings.Index(text, before), strings.Index(text, after)
	if from < 0 || to < from {
		t.Fatal("shift is not what this test thinks it is")
	}
	body := strings.NewReplacer(before, "return gen.Algorithm{\n\tName: name", "Is: prev", "Is: to", "Is: next",
		"Is: from").Replace(text[from:to])
	dir := module(t, map[string]string{"a.go": text[:from] + "func make_(name string, to, from spec.Expr) gen.Algorithm {\n" + body + "}\n}\n" + `
var (
	a = make_("a", next, prev)
	b = make_("b", prev, next)
	c = make_("c", prev, prev)
	d = make_("d", prev, next)
)
` + text[strings.Index(text, "\nvar next, prev"):]})
	status, stdout, stderr := collgen(t, "verify", "-package", dir, "-n", "1..9")
	for _, want := range []string{"\nsame/b ", "\nsame/d ", "\n2 of 4 algorithms, 18 schedules proved. "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("want %q in\n%s", want, stdout)
		}
	}
	for _, want := range []string{`a.go:23:2: Body[2].Else[0][1]: same/a fails the check "postcondition"`,
		`a.go:25:2: Body[2].Else[0][0]: same/c fails the check "unmatched"`} {
		if !strings.Contains(stderr, want) {
			t.Errorf("want %q in\n%s", want, stderr)
		}
	}
	if status != statusFailed || strings.Contains(stdout, "same/a") || strings.Contains(stdout, "same/c") ||
		strings.Contains(stderr, "same/b") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	if status, stdout, _ := collgen(t, "gen", dir); status != statusFailed || stdout != "" || generatedIn(t, dir) != nil {
		t.Errorf("gen: status %d, %s", status, stdout)
	}
}
