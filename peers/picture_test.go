package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/internal/drawing/drawingtest"
)

const (
	page        = "../docs/lab/performance.md"
	pagePicture = "../docs/pictures/performance.svg"
)

// TestPicture: the picture in the documents is that of the table in them.
func TestPicture(t *testing.T) {
	drawn := filepath.Join(t.TempDir(), "drawn.svg")
	if err := command(t.Context(), []string{"-recorded", page, "-picture", drawn}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(pagePicture)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not what make pictures draws of %s: %s", pagePicture, page, d)
	}
	drawingtest.Plain(t, string(got))
}

// TestPictureShowsAll: every ratio of the other table, the summary, has a dot.
func TestPictureShowsAll(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(pagePicture)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "| "+summary(nil)[0][0]+" | ")
	table, _, _ := strings.Cut(rest, "\n\n")
	head, table, _ := strings.Cut(table, " |\n")
	sizes := strings.Split(head, " | ")
	found := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i, cell := range cells[1:] {
			if cell = strings.TrimSpace(cell); cell == "" || strings.HasPrefix(line, "|---") {
				continue
			}
			size := sizes[i]
			if strings.HasPrefix(line, "| barrier") {
				size = sizeText(0)
			}
			found++
			cell = cell[strings.LastIndex(cell, " ")+1:] // after that to the peer at its default
			if says := fmt.Sprintf("<title>%s, %s: %s (", strings.TrimSpace(cells[0]), size, cell); !strings.Contains(
				string(picture), says) {
				t.Errorf("the picture has no %q", says)
			}
		}
	}
	if !ok || found < 80 {
		t.Errorf("%d ratios were found", found)
	}
}

// TestReadRecorded reads what a report has written.
func TestReadRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "performance.md")
	if err := os.WriteFile(path, []byte(begin+end), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecorded(path); err == nil {
		t.Error("a file without ratios was read")
	}
	r := testReport
	r.about = "today,\nhere; versions. `command`"
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readRecorded(path)
	want := &recorded{where: "today, here", ratios: []ratio{
		{row: "a", size: "8", median: 2.7, least: 2.1, most: 3.3},
		{row: "b", size: "-", median: .01, least: .01, most: .01},
	}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(recorded{}, ratio{})); err != nil || d != "" {
		t.Errorf("%v: %s", err, d)
	}
	if err := os.WriteFile(path, []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, filepath.Join(path, "none")} {
		if _, err := readRecorded(file); err == nil {
			t.Errorf("%s was read", file)
		}
	}
}

func TestPictureFlags(t *testing.T) {
	for _, args := range []string{"-picture p.svg", "-recorded t.md", "-recorded t.md -write t.md -picture p.svg",
		"-recorded none.md -picture p.svg"} {
		if err := command(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

func FuzzParseRatio(f *testing.F) {
	f.Add("| a | 8 | 0.12 | 0.33 | 2.70 | 2.10-3.30 | 5 | 1.23 | Open MPI (default) |")
	f.Add("| a | 1M |  |  | not measured |  |  |  | no\\|launcher |")
	f.Add("| a | 1M | | | NaN | NaN-Inf | | | |")
	f.Add("| a | 8 | 1 | 1 | 1 | 1-1 | 1 | | |")
	f.Fuzz(func(t *testing.T, line string) {
		r, err := parseRatio(line)
		if err != nil || r == nil {
			return
		}
		if !(r.median > 0 && r.least > 0 && r.most > 0) {
			t.Fatalf("%q: %+v", line, r)
		}
		var b strings.Builder
		if err := (&recorded{ratios: []ratio{*r}}).picture().SVG(&b); err != nil {
			t.Fatal(err)
		}
		drawingtest.Plain(t, b.String())
	})
}
