package report

import (
	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
	"github.com/collgen/collgen/internal/drawing"
)

// The size of the title, the width of the labels at the right, and the dashes of limits, in pixels.
const (
	titleSize  = 15
	labelWidth = 260
)

var limitDash = []float64{2, 3}

// Plot returns a picture of bandwidth and time over the size, with those limits that concern the results' transports.
func Plot(title string, results []*bench.Result, all []limits.Limit) *drawing.Drawing {
	groups, shown := groupsOf(results), relevant(all, results)
	d := &drawing.Drawing{Width: chartRight + labelWidth, Paper: drawing.Paper, Alt: title}
	d.Label(chartLeft, 28, title).Size = titleSize
	d.Texts[0].Bold = true
	for i, q := range quantities {
		top := float64(chartTop + i*(chartHeight+chartGap))
		newChart(q, top, groups, shown).draw(d)
	}
	y := chartTop + len(quantities)*(chartHeight+chartGap)
	for i, g := range groups {
		(&drawing.Curve{Color: g.color, Dashed: g.dashed}).Legend(d, chartLeft, float64(y+i*legendHeight), g.label)
	}
	d.Height = y + len(groups)*legendHeight + 8
	return d
}

func (c *chart) draw(d *drawing.Drawing) {
	c.Frame(d)
	const leader = 16 // the width of the line that leads to a label
	for _, l := range c.limits {
		d.Between(c.Left, l.at, c.Right, l.at, drawing.Line{Color: drawing.Faint, Width: 1, Dash: limitDash})
		d.Between(c.Right, l.at, c.Right+leader, l.labelAt, drawing.Line{Color: drawing.Faint, Width: .5})
		d.Label(c.Right+leader+4, l.labelAt+4, l.label).Color = drawing.Faint
	}
	for i := range c.Curves {
		c.Curves[i].Draw(d)
	}
}
