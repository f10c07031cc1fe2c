package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBothWays: the command finds the same by itself and as the tool of go vet.
func TestBothWays(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "collvet")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const samples, found = "./internal/check/testdata/root", "the root of Reduce depends on the rank"
	for name, c := range map[string]*exec.Cmd{
		"alone":  exec.Command(tool, samples),
		"go vet": exec.Command("go", "vet", "-vettool="+tool, samples),
	} {
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), found) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
