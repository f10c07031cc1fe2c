package report

import (
	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
	"github.com/collgen/collgen/internal/drawing"
)

// The sizes of text, the width of the labels at the right, and the dashes of curves and limits, in pixels.
const (
	textSize, titleSize = 11, 15
	labelWidth          = 260
)

var curveDash, limitDash = []float64{6, 4}, []float64{2, 3}

// Plot returns a picture of bandwidth and time over the size, with those limits that concern the results' transports.
func Plot(title string, results []*bench.Result, all []limits.Limit) *drawing.Drawing {
	groups, shown := groupsOf(results), relevant(all, results)
	d := &drawing.Drawing{Width: chartRight + labelWidth, Paper: drawing.Paper, Alt: title}
	text(d, chartLeft, 28, title).Size = titleSize
	d.Texts[0].Bold = true
	for i, q := range quantities {
		top := float64(chartTop + i*(chartHeight+chartGap))
		newChart(q, top, groups, shown).draw(d)
	}
	y := chartTop + len(quantities)*(chartHeight+chartGap)
	for i, g := range groups {
		at := float64(y + i*legendHeight)
		line := curveLine(&curve{color: g.color, dashed: g.dashed})
		line.Points = []drawing.Point{{X: chartLeft, Y: at}, {X: chartLeft + 32, Y: at}}
		d.Lines = append(d.Lines, line)
		text(d, chartLeft+40, at+4, g.label)
	}
	d.Height = y + len(groups)*legendHeight + 8
	return d
}

// text adds a line of text, which it returns until the next one is added.
func text(d *drawing.Drawing, x, y float64, s string) *drawing.Text {
	d.Texts = append(d.Texts, drawing.Text{Point: drawing.Point{X: x, Y: y}, Anchor: drawing.Start, Size: textSize,
		Color: drawing.Ink, Text: s})
	return &d.Texts[len(d.Texts)-1]
}

func (c *chart) draw(d *drawing.Drawing) {
	text(d, c.left, c.top-12, c.title).Bold = true
	for _, t := range c.y {
		d.Lines = append(d.Lines, between(c.left, t.at, c.right, t.at, drawing.Line{Color: drawing.Grid, Width: 1}))
		text(d, c.left-8, t.at+4, t.label).Anchor = drawing.End
	}
	for _, t := range c.x {
		d.Lines = append(d.Lines, between(t.at, c.top, t.at, c.bottom, drawing.Line{Color: drawing.Grid, Width: 1}))
		text(d, t.at, c.bottom+16, t.label).Anchor = drawing.Middle
	}
	const leader = 16 // the width of the line that leads to a label
	for _, l := range c.limits {
		d.Lines = append(d.Lines,
			between(c.left, l.at, c.right, l.at, drawing.Line{Color: drawing.Faint, Width: 1, Dash: limitDash}),
			between(c.right, l.at, c.right+leader, l.labelAt, drawing.Line{Color: drawing.Faint, Width: .5}))
		text(d, c.right+leader+4, l.labelAt+4, l.label).Color = drawing.Faint
	}
	for i := range c.curves {
		c.curves[i].draw(d)
	}
}

func between(x1, y1, x2, y2 float64, like drawing.Line) drawing.Line {
	like.Points = []drawing.Point{{X: x1, Y: y1}, {X: x2, Y: y2}}
	return like
}

func (c *curve) draw(d *drawing.Drawing) {
	line := curveLine(c)
	for _, dot := range c.dots {
		line.Points = append(line.Points, dot.Point)
		d.Dots = append(d.Dots, drawing.Dot{Point: dot.Point, Radius: 2.6, Color: line.Color, Says: dot.says})
	}
	d.Lines = append(d.Lines, line)
}

// curveLine returns the line of a curve, without points.
func curveLine(c *curve) drawing.Line {
	line := drawing.Line{Color: drawing.Series[c.color%len(drawing.Series)], Width: 1.8}
	if c.dashed {
		line.Dash = curveDash
	}
	return line
}
