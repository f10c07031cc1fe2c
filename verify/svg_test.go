package verify_test

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

var update = flag.Bool("update", false, "write the golden picture anew")

// counterexample returns what the checker finds in a museum's piece, with so many ranks.
func counterexample(x *exhibit, from, to int) *verify.Failure {
	a := x.in
	x.by(&a)
	_, err := verify.Algorithm(context.Background(), &a, verify.Options{From: from, To: to, Depths: []int{1, 2, 3, 4}})
	var f *verify.Failure
	errors.As(err, &f)
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
	Class  string `xml:"class,attr"`
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
	for _, x := range museum {
		for _, from := range []int{1, 7, 8, 20} {
			f := counterexample(&x, from, from+9)
			if f == nil {
				continue
			}
			svg, ok := f.SVG()
			if !ok {
				if f.Check != verify.Program && f.Check != verify.ScratchUnused && len(f.Trace) > 100 {
					t.Errorf("%s: no picture of: %v", x.bug, f)
				}
				continue
			}
			drawn++
			checkPicture(t, x.bug, svg)
		}
	}
	if drawn < 100 {
		t.Errorf("only %d pictures", drawn)
	}
}

func checkPicture(t *testing.T, bug, svg string) {
	var p picture
	if err := xml.Unmarshal([]byte(svg), &p); err != nil {
		t.Fatalf("%s: %v", bug, err)
	}
	if !strings.Contains(svg, `class="wrong"`) || p.Width > 4000 || p.Height > 4000 {
		t.Errorf("%s: %d by %d, or nothing is wrong in it", bug, p.Width, p.Height)
	}
	var texts, boxes []figure
	for _, f := range p.Texts {
		f.Width, f.Height = 7*utf8.RuneCountInString(f.Text), 12
		f.Y -= 10
		texts = append(texts, f)
	}
	for _, f := range p.Rects {
		if strings.HasPrefix(f.Class, "box") {
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
	f := counterexample(&exhibit{in: catalogue.ReduceBinomial, by: museumPiece("a partial sum sent and added twice")}, 4, 4)
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

func museumPiece(bug string) func(*gen.Algorithm) {
	for _, x := range museum {
		if x.bug == bug {
			return x.by
		}
	}
	panic("there is no such piece")
}

// TestNoPicture: of an algorithm without a schedule there is nothing to draw.
func TestNoPicture(t *testing.T) {
	x := exhibit{in: catalogue.AllGatherRing, by: func(a *gen.Algorithm) { a.Scratch = spec.Int(-1) }}
	f := counterexample(&x, 2, 2)
	if f == nil {
		t.Fatal("not found")
	}
	if svg, ok := f.SVG(); ok {
		t.Error(svg)
	}
}
