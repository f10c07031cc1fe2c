package repotest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// messages are the texts in the first column of the tables of troubleshooting.md.
var messages = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")

// TestTroubleshooting: the library says each of the messages that troubleshooting.md explains.
func TestTroubleshooting(t *testing.T) {
	text, err := os.ReadFile("docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	source := librarySource(t)
	found := 0
	for _, row := range messages.FindAllStringSubmatch(string(text), -1) {
		for _, message := range strings.Split(row[1], ", ") {
			found++
			if message = strings.Trim(message, "`"); !strings.Contains(source, message) {
				t.Errorf("no message of the library has %q", message)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d messages were looked for", found)
	}
}

// librarySource returns the Go files of package fast and below, tests aside.
func librarySource(t *testing.T) string {
	var all strings.Builder
	err := filepath.WalkDir("fast", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestPerformance: the ratios of README and performance.md are those that were measured.
func TestPerformance(t *testing.T) {
	measured := tableOfRatios(t, "docs/lab/performance.md")
	for name, least := range map[string]int{"docs/performance.md": 60, "README.md": 40} {
		compared := 0
		for what, ratios := range tableOfRatios(t, name) {
			for size, ratio := range ratios {
				compared++
				if m := measured[what][size]; m != ratio {
					t.Errorf("%s: %s, %s: %q, measured was %q", name, what, size, ratio, m)
				}
			}
		}
		if compared < least {
			t.Errorf("%s: %d ratios were compared", name, compared)
		}
	}
}

// tableOfRatios returns the table of ratios of a document, by its first column and the heads of the others.
func tableOfRatios(t *testing.T, name string) map[string]map[string]string {
	t.Helper()
	ratios := make(map[string]map[string]string)
	var heads []string
	for line := range strings.Lines(read(t, name)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|") && heads != nil:
			return ratios
		case heads == nil:
			if strings.HasPrefix(line, "| peer's time over ours |") {
				heads = cells
			}
		case !strings.HasPrefix(line, "|---"):
			row := make(map[string]string)
			for i, cell := range cells[1:] {
				row[strings.TrimSpace(heads[i+1])] = strings.TrimSpace(cell)
			}
			ratios[strings.TrimSpace(cells[0])] = row
		}
	}
	return ratios
}

// links are those of Markdown to files.
var links = regexp.MustCompile(`\]\(([^)\s#]+)(#[^)\s]*)?\)`)

// TestLinks: every file that a document links to is there.
func TestLinks(t *testing.T) {
	found := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/lab/*.md"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range links.FindAllStringSubmatch(withoutCode(string(text)), -1) {
				if strings.Contains(link[1], "://") {
					continue
				}
				found++
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), link[1])); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d links were followed", found)
	}
}

// TestReadmeListsDocuments: README links to every guide, under its heading Documents.
func TestReadmeListsDocuments(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "README.md"), "\n## Documents\n")
	list, _, _ = strings.Cut(list, "\n## ")
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range append(documents, "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md") {
		if !strings.Contains(list, "("+document+")") {
			t.Errorf("README does not list %s", document)
		}
	}
}

// fenced is a block of code in Markdown.
var fenced = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

func withoutCode(text string) string { return fenced.ReplaceAllString(text, "") }
