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

// legend explains a curve.
type legend struct {
	X, Y   float64
	Color  int
	Dashed bool
	Label  string
}

//go:embed plot.svg.tmpl
var plotText string

var plotTemplate = template.Must(template.New("plot").Parse(plotText))

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
