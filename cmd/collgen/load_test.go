package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoadError has the go command's words alone, and what to do.
func TestLoadError(t *testing.T) {
	for text, want := range map[string]string{
		"err: exit status 1: stderr: go: updates to go.mod needed; to update it:\n\tgo mod tidy\n": "d: go: updates to " +
			"go.mod needed; to update it:\n\tgo mod tidy",
		"err: exit status 1: stderr: go: updates to go.mod needed\n": "d: go: updates to " +
			"go.mod needed; to update it:\n\tgo mod tidy",
		"something else": "d: something else",
	} {
		if got := loadError("d", errors.New(text)).Error(); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestUntidy has a module whose go.mod lacks what collgen needs.
func TestUntidy(t *testing.T) {
	t.Parallel()
	dir := module(t, ownFiles(t))
	mod := filepath.Join(dir, "go.mod")
	head, rest, _ := strings.Cut(read(t, mod), "require (")
	_, tail, _ := strings.Cut(rest, ")\n")
	write(t, mod, head+tail)
	status, _, stderr := collgen(t, "gen", dir)
	if status != statusFailed || strings.Contains(stderr, "stderr") || !strings.Contains(stderr, ": go: ") ||
		!strings.Contains(stderr, "\n\tgo mod tidy\n") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}
