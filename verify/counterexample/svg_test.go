package counterexample_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/drawing/drawingtest"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/bugs"
)

var update = flag.Bool("update", false, "write the golden picture anew")

// counterexample returns what package verify finds with so many ranks, or nil.
func counterexample(t *testing.T, b *bugs.Bug, from, to int) *verify.Failure {
	t.Helper()
	f, err := b.Verify(t.Context(), verify.Options{From: from, To: to, Depths: []int{1, 2, 3, 4}})
	if err != nil && !errors.Is(err, verify.ErrNothing) {
		t.Fatal(err)
	}
	return f
}

// picture is as much of an SVG as this test looks at.
type picture struct {
	Width  int      `xml:"width,attr"`
	Height int      `xml:"height,attr"`
	Rects  []figure `xml:"rect"`
	Texts  []figure `xml:"text"`
}

type figure struct {
	X      int    `xml:"x,attr"`
	Y      int    `xml:"y,attr"`
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Corner int    `xml:"rx,attr"`
	Text   string `xml:",chardata"`
}

// overlaps reports whether two figures share more than an edge.
func (f figure) overlaps(g figure) bool {
	return f.X < g.X+g.Width && g.X < f.X+f.Width && f.Y < g.Y+g.Height && g.Y < f.Y+f.Height
}

// TestSVG: the picture of every planted bug is XML, marks what is wrong, and has nothing that covers something else;
// everything lies within it.
func TestSVG(t *testing.T) {
	drawn := 0
	for _, x := range bugs.Common {
		for _, from := range []int{1, 7, 8, 20} {
			f := counterexample(t, &x, from, from+9)
			if f == nil {
				continue
			}
			svg, ok := f.SVG()
			if !ok {
				if f.Check != verify.Program && f.Check != verify.ScratchUnused && len(f.Trace) > 100 {
					t.Errorf("%s: no picture of: %v", x.What, f)
				}
				continue
			}
			drawn++
			checkPicture(t, x.What, svg)
		}
	}
	if drawn < 100 {
		t.Errorf("only %d pictures", drawn)
	}
}

// wrongColor is the color of text that says what is wrong.
const wrongColor = `fill="#c5221f"`

func checkPicture(t *testing.T, bug, svg string) {
	var p picture
	if err := xml.Unmarshal([]byte(svg), &p); err != nil {
		t.Fatalf("%s: %v", bug, err)
	}
	drawingtest.Plain(t, svg)
	if !strings.Contains(svg, wrongColor) || p.Width > 4000 || p.Height > 4000 {
		t.Errorf("%s: %d by %d, or nothing is wrong in it", bug, p.Width, p.Height)
	}
	var texts, boxes []figure
	for _, f := range p.Texts {
		f.Width, f.Height = 7*utf8.RuneCountInString(f.Text), 12
		f.Y -= 10
		texts = append(texts, f)
	}
	for _, f := range p.Rects {
		if f.Corner > 0 { // it is the box of a step
			boxes = append(boxes, f)
		}
	}
	whole := figure{Width: p.Width, Height: p.Height}
	for _, list := range [][]figure{texts, boxes} {
		for i, f := range list {
			if f.X < 0 || f.Y < 0 || f.X+f.Width > whole.Width || f.Y+f.Height > whole.Height {
				t.Errorf("%s: %+v lies outside of it", bug, f)
			}
			for _, g := range list[:i] {
				if f.overlaps(g) {
					t.Errorf("%s: %+v and %+v overlap", bug, f, g)
				}
			}
		}
	}
	for _, f := range texts {
		for _, b := range boxes {
			if f.overlaps(b) && (f.X < b.X || f.X+f.Width > b.X+b.Width || f.Y < b.Y || f.Y+f.Height > b.Y+b.Height) {
				t.Errorf("%s: %+v crosses the edge of %+v", bug, f, b)
			}
		}
	}
}

// TestGoldenSVG is the picture of a partial sum that is sent and added twice.
func TestGoldenSVG(t *testing.T) {
	const file = "testdata/counterexample.svg"
	i := slices.IndexFunc(bugs.Common, func(b bugs.Bug) bool { return b.What == "a partial sum sent and added twice" })
	f := counterexample(t, &bugs.Common[i], 4, 4)
	svg, ok := f.SVG()
	if !ok {
		t.Fatal("no picture")
	}
	if *update {
		if err := os.WriteFile(file, []byte(svg), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), svg); d != "" {
		t.Errorf("%s (-update writes it anew): %s", file, d)
	}
}

// TestNoPicture: of an algorithm without a schedule there is nothing to draw.
func TestNoPicture(t *testing.T) {
	x := bugs.Bug{In: catalogue.AllGatherRing, Plant: func(a *gen.Algorithm) { a.Scratch = spec.Int(-1) }}
	f := counterexample(t, &x, 2, 2)
	if f == nil {
		t.Fatal("not found")
	}
	if svg, ok := f.SVG(); ok {
		t.Error(svg)
	}
}
