package drawing

// textSize is the size of the text of a chart, in pixels.
const textSize = 11

// dashes are those of a dashed curve.
var dashes = []float64{6, 4}

// Chart is one coordinate system. All coordinates are those of the picture.
type Chart struct {
	Title                    string
	Left, Top, Right, Bottom float64
	X, Y                     []Tick
	Curves                   []Curve
}

// Curve is a line with a dot for each of its points.
type Curve struct {
	Color  int // an index of Series, which begins again after the last one
	Dashed bool
	Dots   []CurveDot
}

// CurveDot is a point of a curve, whose text appears under the pointer.
type CurveDot struct {
	Point
	Says string
}

// Label adds a line of text, which it returns until the next one is added.
func (d *Drawing) Label(x, y float64, s string) *Text {
	d.Texts = append(d.Texts, Text{Point: Point{x, y}, Anchor: Start, Size: textSize, Color: Ink, Text: s})
	return &d.Texts[len(d.Texts)-1]
}

// Between adds a line between two points that is like another one.
func (d *Drawing) Between(x1, y1, x2, y2 float64, like Line) {
	like.Points = []Point{{x1, y1}, {x2, y2}}
	d.Lines = append(d.Lines, like)
}

// Frame draws the title of a chart, and the grid with its labels.
func (c *Chart) Frame(d *Drawing) {
	d.Label(c.Left, c.Top-12, c.Title).Bold = true
	grid := Line{Color: Grid, Width: 1}
	for _, t := range c.Y {
		d.Between(c.Left, t.At, c.Right, t.At, grid)
		d.Label(c.Left-8, t.At+4, t.Label).Anchor = End
	}
	for _, t := range c.X {
		d.Between(t.At, c.Top, t.At, c.Bottom, grid)
		d.Label(t.At, c.Bottom+16, t.Label).Anchor = Middle
	}
}

// Draw draws the curve.
func (c *Curve) Draw(d *Drawing) {
	line := c.line()
	for _, dot := range c.Dots {
		line.Points = append(line.Points, dot.Point)
		d.Dots = append(d.Dots, Dot{Point: dot.Point, Radius: 2.6, Color: line.Color, Says: dot.Says})
	}
	d.Lines = append(d.Lines, line)
}

// Legend draws a line like the curve, with a label beside it.
func (c *Curve) Legend(d *Drawing, x, y float64, label string) {
	d.Between(x, y, x+32, y, c.line())
	d.Label(x+40, y+4, label)
}

// line returns the line of a curve, without points.
func (c *Curve) line() Line {
	line := Line{Color: Series[c.Color%len(Series)], Width: 1.8}
	if c.Dashed {
		line.Dash = dashes
	}
	return line
}
