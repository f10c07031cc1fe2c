package collgen_test

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// goBlocks are the blocks of Go in README.md: whole files, and statements.
func goBlocks(t *testing.T) (files, statements []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1) {
		if strings.Contains(block[1], "package ") {
			files = append(files, block[1])
		} else {
			statements = append(statements, block[1])
		}
	}
	return files, statements
}

// goCommand runs the go command on a file outside of the module, which can import it nevertheless.
func goCommand(t *testing.T, command, text string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir, "main.go", text)
	out, err := exec.CommandContext(t.Context(), "go", command, filepath.Join(dir, "main.go")).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s\n%s", command, err, out, text)
	}
	return string(out)
}

// TestReadmeRuns runs the first program that a reader sees.
func TestReadmeRuns(t *testing.T) {
	files, _ := goBlocks(t)
	got := slices.Sorted(strings.Lines(goCommand(t, "run", files[0])))
	want := []string{"done: <nil>\n", "rank 0 has [4 6]\n", "rank 1 has [4 6]\n", "rank 2 has [4 6]\n", "rank 3 has [4 6]\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestReadmeCompiles compiles the rest.
func TestReadmeCompiles(t *testing.T) {
	files, statements := goBlocks(t)
	if len(statements) == 0 {
		t.Fatal("README.md has no statements")
	}
	for _, s := range statements {
		goCommand(t, "vet", "package main\n\nimport (\n\t\"context\"\n\n\t\""+module+"/fast\"\n)\n\n"+
			"func f(ctx context.Context, params []float32) error {\n"+s+"}\n\nfunc main() { _ = f(nil, nil) }\n")
	}
	for _, f := range files[1:] {
		goCommand(t, "vet", f)
	}
}

// TestDocumentsNameWhatExists checks the paths, make targets and functions that the documents name.
func TestDocumentsNameWhatExists(t *testing.T) {
	functions := exportedFunctions(t, "fast")
	makefile := read(t, "Makefile")
	for _, document := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text := read(t, document)
		for _, path := range regexp.MustCompile("`([a-z_/]+/)[^`]*`").FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path[1]); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
		for _, link := range regexp.MustCompile(`\]\(([^:)]+)\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(link[1]); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
		for _, target := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+target[1]+":") {
				t.Errorf("%s: there is no make %s", document, target[1])
			}
		}
		for _, call := range regexp.MustCompile("`([A-Z][A-Za-z]+)\\(ctx, c").FindAllStringSubmatch(text, -1) {
			if !functions[call[1]] {
				t.Errorf("%s: there is no fast.%s", document, call[1])
			}
		}
	}
}

// exportedFunctions are the functions that the package in dir exports.
func exportedFunctions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	for _, name := range goFiles(t, dir) {
		if strings.Contains(name, "/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range functionsOf(f) {
			if d.Recv == nil && d.Name.IsExported() {
				found[d.Name.Name] = true
			}
		}
	}
	return found
}
