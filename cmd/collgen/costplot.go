package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/internal/drawing"
	"github.com/collgen/collgen/internal/figures"
)

// The geometry of a picture of times, in pixels.
const (
	costLeft, costRight   = 80, 760
	costTop, costBottom   = 72, 432
	costLegend, costTitle = 20, 15
)

// draw draws the times over the length of a block.
func (c *costCommand) draw(f *forecast) error {
	var b bytes.Buffer
	if err := f.picture(fmt.Sprintf("%s, %d ranks: predicted times", c.args[0], c.costing.ranks)).SVG(&b); err != nil {
		return err
	}
	return replaceFile(c.plot, b.Bytes())
}

// picture has a curve for each algorithm, at its fastest depth, and larger dots where it is the fastest one.
func (f *forecast) picture(title string) *drawing.Drawing {
	d := &drawing.Drawing{Width: costRight + 24, Paper: drawing.Paper, Alt: title}
	heading := d.Label(costLeft, 28, title)
	heading.Size, heading.Bold = costTitle, true
	names := f.names()
	chart := drawing.Chart{Title: "time over the bytes of a block, µs; large dots: the fastest", Left: costLeft,
		Top: costTop, Right: costRight, Bottom: costBottom}
	x, y := drawing.Axis{From: costLeft, To: costRight}, drawing.Axis{From: costBottom, To: costTop}
	for _, p := range f.Predictions {
		if p.isDrawn() {
			x.Extend(float64(p.Block))
			y.Extend(p.Seconds * 1e6)
		}
	}
	if x.Least > 0 {
		chart.Y, chart.X = y.Decades(), x.Sizes(figures.SizeText)
	}
	chart.Frame(d)
	for i, name := range names {
		curve := drawing.Curve{Color: i, Dashed: i/len(drawing.Series)%2 == 1}
		f.trace(d, &curve, name, &x, &y)
		curve.Draw(d)
		curve.Legend(d, costLeft, float64(costBottom+48+i*costLegend), f.label(name))
	}
	d.Height = costBottom + 48 + len(names)*costLegend
	return d
}

// isDrawn reports whether there is a place for p on logarithmic axes.
func (p *prediction) isDrawn() bool { return p.Block > 0 && p.Seconds > 0 }

// names returns the algorithms, in the order of their names.
func (f *forecast) names() (names []string) {
	for _, p := range f.Predictions {
		names = append(names, p.Algorithm)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// label returns the name of an algorithm with where it is the fastest.
func (f *forecast) label(name string) string {
	var where []string
	for _, x := range f.Fastest {
		if x.Algorithm == name {
			where = append(where, fmt.Sprintf("%v..%v", figures.Size(x.From), figures.Size(x.To)))
		}
	}
	if where == nil {
		return name
	}
	return name + ", the fastest for " + strings.Join(where, ", ")
}

// trace adds the points of an algorithm to its curve, and large dots where it is the fastest.
func (f *forecast) trace(d *drawing.Drawing, curve *drawing.Curve, name string, x, y *drawing.Axis) {
	last, best := -1, -1 // blocks that have their point, and their fastest
	for _, p := range f.Predictions {
		if !p.isDrawn() {
			continue
		}
		isBest := p.Block != best
		best = p.Block
		if p.Algorithm != name || p.Block == last {
			continue
		}
		last = p.Block
		at := drawing.Point{X: x.At(float64(p.Block)), Y: y.At(p.Seconds * 1e6)}
		says := fmt.Sprintf("%s, depth %d: %v, %s µs", name, p.Depth, figures.Size(p.Block), figures.Number(p.Seconds*1e6))
		curve.Dots = append(curve.Dots, drawing.CurveDot{Point: at, Says: says})
		if isBest {
			d.Dots = append(d.Dots, drawing.Dot{Point: at, Radius: 5, Color: drawing.Series[curve.Color%len(drawing.Series)],
				Says: says})
		}
	}
}
