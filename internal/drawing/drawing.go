// Package drawing describes pictures of lines, dots and text, and prints them as SVG.
package drawing

import "image/color"

// Drawing is a picture. What comes later in a list covers what comes before it, and text covers the rest.
type Drawing struct {
	Width, Height int // pixels, as all lengths
	Paper         color.RGBA
	Alt           string // what the picture shows, for readers who cannot see it
	Boxes         []Box
	Lines         []Line
	Dots          []Dot
	Texts         []Text
}

// Point is a place in a drawing: X counts from the left, Y from the top.
type Point struct{ X, Y float64 }

// Box is a filled rectangle.
type Box struct {
	Point         // its upper left corner
	Width, Height float64
	Color         color.RGBA
	Says          string // appears under the pointer; "": nothing does
}

// Line connects points in their order.
type Line struct {
	Points []Point
	Color  color.RGBA
	Width  float64
	Dash   []float64 // the lengths of a dash and of the gap after it; nil: the line is solid
}

// Dot is a filled circle.
type Dot struct {
	Point  // its centre
	Radius float64
	Color  color.RGBA
	Says   string // appears under the pointer; "": nothing does
}

// Text is one line of text.
type Text struct {
	Point         // on the base line, at the side that Anchor names
	Anchor Anchor // what of the text is at Point
	Size   float64
	Bold   bool
	Color  color.RGBA
	Text   string
}

// Anchor is the side of a text that lies at its point.
type Anchor string

// The sides of a text, as SVG names them.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

// RGB returns an opaque color, of a number such as 0xff8800.
func RGB(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff}
}

// The colors of our pictures. They have their own paper, so that they can be read on a page of any color.
var (
	Paper = RGB(0xffffff)
	Ink   = RGB(0x1c1c1c)
	Grid  = RGB(0xe2e2e2)
	Faint = RGB(0x6e6e6e) // of text and lines that matter less

	// Series are colors that can be told apart, and be read as text on the paper.
	Series = []color.RGBA{RGB(0x0060b9), RGB(0xc43e00), RGB(0x00795c), RGB(0x8a3ffc), RGB(0xb5006b), RGB(0x7a6000),
		RGB(0x007b8a), RGB(0x555555)}
)
