package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoCost says nothing of a cost that is not declared.
func TestNoCost(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`\n\tCost: .*`)
	dir := module(t, map[string]string{"a.go": small("theirs", line.ReplaceAllString(shift, ""))})
	if status, _, stderr := collgen(t, "gen", dir); status != 0 {
		t.Fatal(stderr)
	}
	if text := read(t, filepath.Join(dir, "zsame.go")); strings.Contains(text, "Cost") {
		t.Errorf("a cost is generated:\n%s", text)
	}
	status, stdout, stderr := collgen(t, "explain", "same/copy", "-package", dir)
	if status != 0 || strings.Contains(stdout, "formula") || !regexp.MustCompile(`\nmeasured +1 +1 +0 +1\n`).MatchString(
		stdout) {
		t.Errorf("explain: status %d\n%s%s", status, stdout, stderr)
	}
}
