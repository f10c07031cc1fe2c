package main

import (
	"context"
	_ "embed"
	"io"
	"os"
	"text/template"

	"github.com/collgen/collgen/internal/program"
)

// picture is a plot: how bandwidth and latency depend on the size, and what the machine's limits are.
type picture struct {
	Title         string
	Width, Height int
	Charts        []*chart
	Legend        []legend
}

// chart is one coordinate system. All places are in the picture.
type chart struct {
	Title                    string
	Left, Top, Right, Bottom float64
	X, Y                     []tick
	Curves                   []curve
	Limits                   []limitLine
}

// curve is the results of one operation, as a path of SVG.
type curve struct {
	Color  int
	Dashed bool
	Path   string
	Dots   []dot
}

// dot is one result; what it says appears under the pointer.
type dot struct {
	X, Y float64
	Says string
}

// limitLine is a limit, and where its label stands.
type limitLine struct {
	At, LabelLeft, LabelAt float64
	Label                  string
}

// legend is what a curve is about.
type legend struct {
	X, Y   float64
	Color  int
	Dashed bool
	Label  string
}

// The geometry of a picture, in pixels.
const (
	chartLeft, chartRight     = 64, 664
	chartTop, chartHeight     = 72, 300
	chartGap                  = 72
	labelHeight, legendHeight = 14, 20
	colors                    = 8
)

//go:embed plot.svg.tmpl
var plotText string

var plotTemplate = template.Must(template.New("plot").Parse(plotText))

// quantityKind is what a chart shows of results and limits.
type quantityKind struct {
	title, unit string
	of          func(r *result) float64
}

var quantities = []quantityKind{
	{"bus bandwidth, GB/s", "GB/s", func(r *result) float64 { return r.BusBW }},
	{"time, µs", "us", func(r *result) float64 { return r.Microseconds.Median }},
}

// plot draws results and limits to w.
func plot(w io.Writer, title string, results []*result, limits []limit) error {
	groups := groupsOf(results)
	p := &picture{Title: title, Width: chartRight + 260}
	for i, q := range quantities {
		top := float64(chartTop + i*(chartHeight+chartGap))
		p.Charts = append(p.Charts, newChart(q, top, groups, limits))
	}
	y := float64(chartTop + len(quantities)*(chartHeight+chartGap))
	for i, g := range groups {
		p.Legend = append(p.Legend, legend{chartLeft, y + float64(i*legendHeight), g.color, g.dashed, g.label})
	}
	p.Height = int(y) + len(groups)*legendHeight + 8
	return plotTemplate.Execute(w, p)
}

// draw measures the limits and writes the plot of results to -plot's file.
func (o *options) draw(ctx context.Context, results []*result, p *program.Progress) (err error) {
	limits := shown(limitsOf(ctx, p), results)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f, err := os.Create(o.plot)
	if err != nil {
		return err
	}
	if err := plot(f, machine(), results, limits); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
