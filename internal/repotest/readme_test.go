package repotest

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

// goBlocks returns the blocks of Go in README.md that begin with something.
func goBlocks(t *testing.T, prefix string) (blocks []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1) {
		if strings.HasPrefix(block[1], prefix) {
			blocks = append(blocks, block[1])
		}
	}
	return blocks
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

// TestReadmeRuns runs the program that a reader sees first.
func TestReadmeRuns(t *testing.T) {
	got := slices.Sorted(strings.Lines(goCommand(t, "run", goBlocks(t, "package main")[0])))
	want := []string{"done: <nil>\n", "rank 0 has [4 6]\n", "rank 1 has [4 6]\n", "rank 2 has [4 6]\n",
		"rank 3 has [4 6]\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestReadmeCompiles compiles the statements. What else there is in Go is quoted from an example, which has its tests.
func TestReadmeCompiles(t *testing.T) {
	statements := append(goBlocks(t, "c, err := "), goBlocks(t, "err = ")...)
	for i, s := range statements {
		before := "" // the statements that follow the first ones go on with what those made
		if i > 0 {
			before = "c, err := new(fast.Comm), error(nil)\n"
		}
		goCommand(t, "vet", "package main\n\nimport (\n\t\"context\"\n\t\"errors\"\n\n\t\""+module+"/fast\"\n)\n\n"+
			"func f(ctx context.Context, params, grad []float32) error {\n"+before+s+"return errors.Join(err)\n}\n\n"+
			"func main() { _ = f(nil, nil, nil) }\n")
	}
	quotes := append(goBlocks(t, "var "), goBlocks(t, "\t")...)
	for _, q := range quotes {
		if !strings.Contains(read(t, "examples/neighbours/exchange.go"), q) {
			t.Errorf("not in the example:\n%s", q)
		}
	}
	if n := len(goBlocks(t, "")); len(statements) != 2 || len(quotes) != 2 || n != 5 {
		t.Errorf("of %d blocks %d are statements and %d quotes", n, len(statements), len(quotes))
	}
}

// TestDocumentsNameWhatExists checks the paths, make targets and functions that the documents name.
func TestDocumentsNameWhatExists(t *testing.T) {
	targets, functions := "\n"+read(t, "Makefile"), exportedFunctions(t, "fast")
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range append(documents, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text := strings.ReplaceAll(read(t, document), "](", "]("+strings.TrimPrefix(filepath.Dir(document)+"/", "./"))
		for _, m := range missing(text, targets, functions) {
			t.Errorf("%s names %s, which does not exist", document, m)
		}
	}
	text := "`nowhere/` `spec/` `nowhere/z*.go` [x](NOWHERE.md) [y](README.md) [z](docs/jobs.md#nowhere) " +
		"[a](docs/jobs.md#when-something-fails) `make nothing` `make test` `Nothing(ctx, c, buf)` `Reduce(ctx, c, buf)`\n" +
		"    make nothing-else\n    make run   runs\n"
	want := []string{"nowhere/", "nowhere/", "NOWHERE.md", "docs/jobs.md#nowhere", "make nothing", "make nothing-else",
		"fast.Nothing"}
	if d := cmp.Diff(want, missing(text, targets, functions)); d != "" {
		t.Error(d)
	}
}

// TestNoPlaceholders: no document still waits for a figure or a word.
func TestNoPlaceholders(t *testing.T) {
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	placeholder := regexp.MustCompile(`\b[A-Z]{3,}(_[A-Z]+)*_FIGURES\b|TODO|TBD|XXX`)
	if !placeholder.MatchString("it costs ENCRYPTION_FIGURES") {
		t.Error("a placeholder is not seen")
	}
	for _, document := range append(documents, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		if p := placeholder.FindString(read(t, document)); p != "" {
			t.Errorf("%s still says %s", document, p)
		}
	}
}

// missing returns what text names and is not there. targets is a Makefile, functions are those of package fast.
func missing(text, targets string, functions map[string]bool) (names []string) {
	notFound := func(pattern, prefix string, exists func(string) bool) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			if !exists(m[1]) {
				names = append(names, prefix+m[1])
			}
		}
	}
	path := func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	}
	notFound("`([a-z_/]+/)[^`]*`", "", path)
	notFound(`\]\(([^:, ()]+)\)`, "", func(link string) bool {
		name, anchor, ok := strings.Cut(link, "#")
		return path(name) && (!ok || slices.Contains(anchors(name), anchor))
	})
	notFound("(?m)(?:`|^    )make ([a-z-]+)", "make ",
		func(name string) bool { return strings.Contains(targets, "\n"+name+":") })
	notFound("`([A-Z][A-Za-z]+)\\(ctx, c", "fast.", func(name string) bool { return functions[name] })
	return names
}

// anchors returns the names by which links reach the headings of a document, as GitHub makes them; nil without a
// document.
func anchors(name string) (found []string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(string(text), -1) {
		heading := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		found = append(found, strings.ReplaceAll(heading, " ", "-"))
	}
	return found
}

// exportedFunctions returns the functions that the package in dir exports.
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
