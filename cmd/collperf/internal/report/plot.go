package report

import (
	_ "embed"
	"io"
	"text/template"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
)

// picture is a plot of bandwidth and latency over the size, with the limits of the machine.
type picture struct {
	Title         string
	Width, Height int
	Charts        []*chart
	Legend        []legend
}

// chart is one coordinate system. All coordinates are those of the picture.
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

// dot is one result; its text appears under the pointer.
type dot struct {
	X, Y float64
	Says string
}

// limitLine is a limit with the position of its label.
type limitLine struct {
	At, LabelLeft, LabelAt float64
	Label                  string
}

// legend explains a curve.
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

// quantityKind is the quantity that a chart shows.
type quantityKind struct {
	title, unit string
	of          func(r *bench.Result) float64
}

var quantities = []quantityKind{
	{"bus bandwidth, GB/s", "GB/s", func(r *bench.Result) float64 { return r.BusBW }},
	{"time, µs", "us", func(r *bench.Result) float64 { return r.Microseconds.Median }},
}

// Plot draws results as SVG to w, with those limits that concern their transports.
func Plot(w io.Writer, title string, results []*bench.Result, all []limits.Limit) error {
	groups, shown := groupsOf(results), relevant(all, results)
	p := &picture{Title: title, Width: chartRight + 260}
	for i, q := range quantities {
		top := float64(chartTop + i*(chartHeight+chartGap))
		p.Charts = append(p.Charts, newChart(q, top, groups, shown))
	}
	y := float64(chartTop + len(quantities)*(chartHeight+chartGap))
	for i, g := range groups {
		p.Legend = append(p.Legend, legend{chartLeft, y + float64(i*legendHeight), g.color, g.dashed, g.label})
	}
	p.Height = int(y) + len(groups)*legendHeight + 8
	return plotTemplate.Execute(w, p)
}
