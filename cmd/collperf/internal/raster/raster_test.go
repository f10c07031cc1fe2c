package raster

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/internal/drawing"
)

var blue, red = drawing.RGB(0x0000ff), drawing.RGB(0xff0000)

// TestImage looks at dots of an image that have to be of one color, for each kind of shape.
func TestImage(t *testing.T) {
	d := drawing.Drawing{Width: 100, Height: 50, Paper: drawing.Paper,
		Boxes: []drawing.Box{{Point: drawing.Point{X: 0, Y: 40}, Width: 100, Height: 10, Color: red}},
		Lines: []drawing.Line{
			{Points: []drawing.Point{{X: 10, Y: 10}, {X: 50, Y: 10}, {X: 50, Y: 30}}, Color: blue, Width: 4},
			{Points: []drawing.Point{{X: 60, Y: 10}, {X: 100, Y: 10}}, Color: blue, Width: 4, Dash: []float64{10, 10}}},
		Dots: []drawing.Dot{{Point: drawing.Point{X: 20, Y: 25}, Radius: 5, Color: red}},
	}
	img, err := Image(&d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		x, y float64
		is   color.RGBA
	}{
		{50, 45, red}, {50, 38, drawing.Paper},
		{11, 10, blue}, {50, 10, blue}, {50, 29, blue}, {30, 14, drawing.Paper}, {53, 20, drawing.Paper},
		{65, 10, blue}, {75, 10, drawing.Paper}, {85, 10, blue}, {95, 10, drawing.Paper},
		{20, 25, red}, {24, 25, red}, {20, 21, red}, {24.5, 29.5, drawing.Paper},
	} {
		if got := img.RGBAAt(int(want.x*scale), int(want.y*scale)); got != want.is {
			t.Errorf("at %v, %v: %v, want %v", want.x, want.y, got, want.is)
		}
	}
}

// TestText: text is there, on the side of its point that its anchor says, and bold text has more ink.
func TestText(t *testing.T) {
	ink := func(text drawing.Text) (left, right int) {
		text.Point, text.Size, text.Color, text.Text = drawing.Point{X: 100, Y: 20}, 11, drawing.Ink, "µ of a rank"
		img, err := Image(&drawing.Drawing{Width: 200, Height: 30, Paper: drawing.Paper, Texts: []drawing.Text{text}})
		if err != nil {
			t.Fatal(err)
		}
		for x := range 200 * scale {
			for y := range 30 * scale {
				if img.RGBAAt(x, y) != drawing.Paper {
					if x < 100*scale {
						left++
					} else {
						right++
					}
				}
			}
		}
		return left, right
	}
	left, all := ink(drawing.Text{Anchor: drawing.Start})
	if left > all/50 || all < 200 {
		t.Errorf("start: %d and %d", left, all)
	}
	if left, right := ink(drawing.Text{Anchor: drawing.End}); right > left/50 || left < 200 {
		t.Errorf("end: %d and %d", left, right)
	}
	if left, right := ink(drawing.Text{Anchor: drawing.Middle}); left < all/3 || right < all/3 {
		t.Errorf("middle: %d and %d of %d", left, right, all)
	}
	if _, bold := ink(drawing.Text{Bold: true}); bold <= all {
		t.Errorf("bold: %d, and %d", bold, all)
	}
}

func TestDashes(t *testing.T) {
	corner := []drawing.Point{{X: 0, Y: 0}, {X: 4, Y: 0}, {X: 4, Y: 6}}
	for _, test := range []struct {
		points []drawing.Point
		dash   []float64
		want   [][]drawing.Point
	}{
		{corner, nil, [][]drawing.Point{corner}},
		{corner, []float64{0, 1}, [][]drawing.Point{corner}},
		{nil, []float64{1, 1}, [][]drawing.Point{nil}},
		{corner, []float64{6, 2}, [][]drawing.Point{{{X: 0, Y: 0}, {X: 4, Y: 0}, {X: 4, Y: 2}},
			{{X: 4, Y: 4}, {X: 4, Y: 6}}}},
		{corner, []float64{3, 2}, [][]drawing.Point{{{X: 0, Y: 0}, {X: 3, Y: 0}}, {{X: 4, Y: 1}, {X: 4, Y: 4}}}},
		{corner, []float64{100, 2}, [][]drawing.Point{corner}},
	} {
		if d := cmp.Diff(test.want, dashes(test.points, test.dash)); d != "" {
			t.Errorf("%v of %v: %s", test.dash, test.points, d)
		}
	}
}

func TestPNG(t *testing.T) {
	d := drawing.Drawing{Width: 30, Height: 20, Paper: drawing.Paper}
	var b bytes.Buffer
	if err := PNG(&b, &d); err != nil {
		t.Fatal(err)
	}
	if c, err := png.DecodeConfig(&b); err != nil || c.Width != 60 || c.Height != 40 {
		t.Errorf("%d by %d, %v", c.Width, c.Height, err)
	}
	if err := PNG(full{}, &d); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// full is a file on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")
