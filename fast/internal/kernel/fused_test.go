package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// fused are arm64's instructions that multiply and add at once, and round once: other bits than those of amd64.
var fused = regexp.MustCompile(`\bFN?M(ADD|SUB)[SD]\b`)

// compiled returns what the compiler makes of the package in dir for arm64.
func compiled(t *testing.T, dir string) []byte {
	t.Helper()
	cmd := exec.Command("go", "build", "-gcflags=-S", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// TestNothingIsFused: where a processor can multiply and add at once, Go may do so, unless the kernels keep it from it.
func TestNothingIsFused(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	if found := fused.FindAll(compiled(t, "."), -1); len(found) > 0 {
		t.Errorf("%d instructions, such as %s", len(found), found[0])
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module fused\n\ngo 1.26\n", "fused.go": "package fused\n\n" +
		"func Fused(a, b, c float64) float64 { return a*b + c }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !fused.Match(compiled(t, dir)) {
		t.Error("what is fused is not seen")
	}
}
