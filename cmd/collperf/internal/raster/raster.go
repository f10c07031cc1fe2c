// Package raster turns drawings into PNG.
package raster

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/vector"

	"github.com/collgen/collgen/internal/drawing"
)

// scale is the number of dots of an image per pixel of a drawing, each way: enough for screens of high resolution.
const scale = 2

// PNG writes the drawing to w. What appears under the pointer is left out.
func PNG(w io.Writer, d *drawing.Drawing) error {
	img, err := Image(d)
	if err != nil {
		return err
	}
	return png.Encode(w, img)
}

// Image returns the drawing as an image, of twice its width and height in pixels.
func Image(d *drawing.Drawing) (*image.RGBA, error) {
	bounds := image.Rect(0, 0, d.Width*scale, d.Height*scale)
	c := &canvas{image.NewRGBA(bounds), vector.NewRasterizer(bounds.Dx(), bounds.Dy())}
	draw.Draw(c.img, bounds, image.NewUniform(d.Paper), image.Point{}, draw.Src)
	for _, b := range d.Boxes {
		right, bottom := b.X+b.Width, b.Y+b.Height
		c.polygon([]drawing.Point{b.Point, {X: right, Y: b.Y}, {X: right, Y: bottom}, {X: b.X, Y: bottom}})
		c.fill(b.Color)
	}
	for _, l := range d.Lines {
		for _, piece := range dashes(l.Points, l.Dash) {
			c.stroke(piece, l.Width)
		}
		c.fill(l.Color)
	}
	for _, dot := range d.Dots {
		c.disc(dot.Point, dot.Radius)
		c.fill(dot.Color)
	}
	return c.img, texts(c.img, d.Texts)
}

// canvas collects outlines, all of them clockwise, until they are filled together.
type canvas struct {
	img  *image.RGBA
	area *vector.Rasterizer
}

func (c *canvas) fill(ink color.RGBA) {
	c.area.Draw(c.img, c.img.Bounds(), image.NewUniform(ink), image.Point{})
	c.area.Reset(c.img.Bounds().Dx(), c.img.Bounds().Dy())
}

func (c *canvas) polygon(corners []drawing.Point) {
	for i, p := range corners {
		if i == 0 {
			c.area.MoveTo(float32(p.X*scale), float32(p.Y*scale))
			continue
		}
		c.area.LineTo(float32(p.X*scale), float32(p.Y*scale))
	}
	c.area.ClosePath()
}

// disc outlines a circle, as a polygon of so many corners that it looks round.
func (c *canvas) disc(centre drawing.Point, radius float64) {
	const corners = 24
	var around []drawing.Point
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		around = append(around, drawing.Point{X: centre.X + radius*cos, Y: centre.Y + radius*sin})
	}
	c.polygon(around)
}

// stroke outlines a line. Its bends are round.
func (c *canvas) stroke(points []drawing.Point, width float64) {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		dx, dy := (b.X-a.X)/length*width/2, (b.Y-a.Y)/length*width/2
		c.polygon([]drawing.Point{{X: a.X + dy, Y: a.Y - dx}, {X: b.X + dy, Y: b.Y - dx}, {X: b.X - dy, Y: b.Y + dx},
			{X: a.X - dy, Y: a.Y + dx}})
		if i > 1 {
			c.disc(a, width/2)
		}
	}
}

// dashes returns the pieces of a line that are drawn, according to the lengths of a dash and of a gap.
func dashes(points []drawing.Point, dash []float64) (pieces [][]drawing.Point) {
	if len(points) == 0 || len(dash) < 2 || dash[0] <= 0 || dash[1] <= 0 {
		return [][]drawing.Point{points}
	}
	piece, left, inked := points[:1:1], dash[0], true
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		length := math.Hypot(to.X-from.X, to.Y-from.Y)
		for at := 0.0; at < length; {
			step := min(left, length-at)
			at, left = at+step, left-step
			p := drawing.Point{X: from.X + (to.X-from.X)*at/length, Y: from.Y + (to.Y-from.Y)*at/length}
			if inked {
				piece = append(piece, p)
			}
			if left > 0 {
				continue // the dash or gap goes on around the bend
			}
			if inked {
				pieces = append(pieces, piece)
				left = dash[1]
			} else {
				piece, left = []drawing.Point{p}, dash[0]
			}
			inked = !inked
		}
	}
	if inked && len(piece) > 1 {
		pieces = append(pieces, piece)
	}
	return pieces
}
