package drawing_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/internal/drawing"
	"github.com/collgen/collgen/internal/drawing/drawingtest"
)

func TestSVG(t *testing.T) {
	d := drawing.Drawing{Width: 40, Height: 20, Paper: drawing.Paper, Alt: "a < b",
		Boxes: []drawing.Box{{Point: drawing.Point{X: 1, Y: 2}, Width: 3, Height: 4.25, Color: drawing.RGB(0x010203),
			Says: "a box"}, {Color: drawing.Grid}},
		Lines: []drawing.Line{{Points: []drawing.Point{{X: 0, Y: 0}, {X: 10, Y: 5}}, Color: drawing.Ink, Width: 1.8,
			Dash: []float64{6, 4}}, {}},
		Dots: []drawing.Dot{{Point: drawing.Point{X: 10, Y: 5}, Radius: 2.6, Color: drawing.Ink}},
		Texts: []drawing.Text{{Point: drawing.Point{X: 20, Y: 10}, Anchor: drawing.Middle, Size: 11, Bold: true,
			Color: drawing.Faint, Text: "1 & 2"}},
	}
	var b strings.Builder
	if err := d.SVG(&b); err != nil {
		t.Fatal(err)
	}
	drawingtest.Plain(t, b.String())
	want := `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20" role="img" ` +
		`font-family="DejaVu Sans, Helvetica, Arial, sans-serif">
<title>a &lt; b</title>
<rect width="40" height="20" fill="#ffffff"/>
<rect x="1" y="2" width="3" height="4.2" fill="#010203"><title>a box</title></rect>
<rect x="0" y="0" width="0" height="0" fill="#e2e2e2"/>
<path d="M0 0L10 5" fill="none" stroke="#1c1c1c" stroke-width="1.8" stroke-dasharray="6 4"/>
<circle cx="10" cy="5" r="2.6" fill="#1c1c1c"/>
<text x="20" y="10" font-size="11" fill="#6e6e6e" font-weight="bold" text-anchor="middle">1 &amp; 2</text>
</svg>
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// full is a file on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

func TestSVGReportsErrors(t *testing.T) {
	if err := (&drawing.Drawing{}).SVG(full{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// TestContrast: all text can be read on the paper: with the contrast of 4.5 that WCAG 2 asks of text.
func TestContrast(t *testing.T) {
	for _, c := range append(drawing.Series, drawing.Ink, drawing.Faint) {
		light := 0.0
		for i, part := range []uint8{c.R, c.G, c.B} {
			v := float64(part) / 255
			if v <= 0.03928 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			light += []float64{0.2126, 0.7152, 0.0722}[i] * v
		}
		if contrast := 1.05 / (light + 0.05); contrast < 4.5 {
			t.Errorf("%v has a contrast of %.1f", c, contrast)
		}
	}
}
