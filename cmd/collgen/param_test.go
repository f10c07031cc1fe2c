package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// repeating is shift with a number that it leaves open: how often each block goes.
var repeating = strings.NewReplacer(`Source: "new",`,
	`Source: "new", Param: gen.Param{Name: "times", Values: []int{1, 3}},`,
	"Else: []gen.Node{gen.Step{gen.Send",
	`Else: []gen.Node{gen.For{Var: "t", N: spec.Var("times"), Body: []gen.Node{gen.Step{gen.Send`,
	"Int(0))}}}}},", "Int(0))}}}}}}},", "Alpha: spec.Int(1), Beta: spec.Int(1)",
	`Alpha: spec.Var("times"), Beta: spec.Var("times")`).Replace(shift)

// TestParam has one function for both members of an algorithm, each of which is proved, listed and compared.
func TestParam(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a.go": small("theirs", repeating+"\nvar use = Same[int8]\n")})
	if status, stdout, stderr := collgen(t, "gen", dir); status != 0 {
		t.Fatalf("gen: status %d\n%s%s", status, stdout, stderr)
	}
	text := read(t, filepath.Join(dir, "zsame.go"))
	for want, n := range map[string]int{"func sameCopy(": 1, "rank, size, times := x.Rank, x.Size, x.Param": 1,
		"for range times": 1, `{Name: "copy-1",`: 1,
		"Param: 3,": 1, "Run: sameCopy}": 2, "With times 3, it is same/copy-3.": 1,
		"Cost on the critical path: 3 messages": 1} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%q is there %d times, want %d, in\n%s", want, got, n, text)
		}
	}
	if status, stdout, stderr := collgen(t, "check", dir); status != 0 || stdout != "" {
		t.Errorf("check: status %d\n%s%s", status, stdout, stderr)
	}
	goCommand(t, dir, "build", ".")
	status, stdout, stderr := collgen(t, "list", "-package", dir)
	for _, want := range []string{"same/copy-1  1..64       zsame.go", "same/copy-3  1..64       zsame.go"} {
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("list: status %d, want %q in\n%s%s", status, want, stdout, stderr)
		}
	}
}

// TestParamWrong: of an algorithm that is wrong for one value alone, the error names that member.
func TestParamWrong(t *testing.T) {
	t.Parallel()
	wrong := strings.Replace(repeating, `{Name: "from", Is: next}`,
		`{Name: "from", Is: spec.Up(spec.Add(spec.Rank, spec.Var("times")), spec.Size)}`, 1)
	dir := module(t, map[string]string{"a.go": small("theirs", wrong)})
	status, stdout, stderr := collgen(t, "verify", "-package", dir)
	if want := `same/copy-3 fails the check "program"`; status != statusFailed || !strings.Contains(stderr, want) ||
		strings.Contains(stderr, "copy-1") {
		t.Errorf("status %d, want %q in\n%s%s", status, want, stdout, stderr)
	}
	if !strings.Contains(stderr, "a.go:") {
		t.Errorf("no place in\n%s", stderr)
	}
	none := module(t, map[string]string{"a.go": small("theirs", strings.Replace(repeating, "[]int{1, 3}", "nil", 1))})
	if status, _, stderr := collgen(t, "gen", none); status != statusFailed ||
		!strings.Contains(stderr, "wants Values of 1 or more") {
		t.Errorf("without values: status %d\n%s", status, stderr)
	}
}
