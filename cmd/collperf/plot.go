package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/template"
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

// group is the results that one curve shows.
type group struct {
	label   string
	color   int
	dashed  bool
	results []*result
}

// groupsOf sorts results into curves: in place and out of place have one color. A barrier has no size and no curve.
func groupsOf(results []*result) (groups []*group) {
	var names []string
	for _, r := range results {
		if r.Bytes == 0 {
			continue
		}
		name := r.Collective + ", " + ranksOver(r)
		if r.Algorithm != "" {
			name += ", " + r.Algorithm
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		label := name + map[bool]string{true: ", in place", false: ", out of place"}[r.InPlace]
		i := slices.IndexFunc(groups, func(g *group) bool { return g.label == label })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{label: label, color: slices.Index(names, name) % colors, dashed: !r.InPlace})
		}
		groups[i].results = append(groups[i].results, r)
	}
	return groups
}

func newChart(q quantityKind, top float64, groups []*group, limits []limit) *chart {
	c := &chart{Title: q.title, Left: chartLeft, Top: top, Right: chartRight, Bottom: top + chartHeight}
	x, y := axis{from: c.Left, to: c.Right}, axis{from: c.Bottom, to: c.Top}
	limits = slices.DeleteFunc(slices.Clone(limits), func(l limit) bool { return l.Unit != q.unit || l.Value <= 0 })
	for _, l := range limits {
		y.take(l.Value)
	}
	for _, g := range groups {
		for _, r := range g.results {
			if v := q.of(r); v > 0 {
				x.take(float64(r.Bytes))
				y.take(v)
			}
		}
	}
	if x.least == 0 {
		return c // there is nothing to show
	}
	c.Y = y.decades()
	c.X = x.sizes()
	for _, g := range groups {
		c.Curves = append(c.Curves, newCurve(q, g, &x, &y))
	}
	c.Limits = limitLines(limits, &y)
	return c
}

func newCurve(q quantityKind, g *group, x, y *axis) curve {
	c := curve{Color: g.color, Dashed: g.dashed}
	for _, r := range g.results {
		v := q.of(r)
		if v <= 0 {
			continue
		}
		d := dot{x.at(float64(r.Bytes)), y.at(v), fmt.Sprintf("%s: %v, %s %s", g.label, size(r.Bytes), number(v), q.unit)}
		command := "L"
		if c.Path == "" {
			command = "M"
		}
		c.Path += fmt.Sprintf("%s%.1f %.1f", command, d.X, d.Y)
		c.Dots = append(c.Dots, d)
	}
	return c
}

// limitLines are lines from the top to the bottom, whose labels do not overlap.
func limitLines(limits []limit, y *axis) (lines []limitLine) {
	slices.SortStableFunc(limits, func(a, b limit) int { return cmp.Compare(b.Value, a.Value) })
	free := 0.0
	for _, l := range limits {
		at := y.at(l.Value)
		label := max(at, free)
		free = label + labelHeight
		lines = append(lines, limitLine{at, chartRight + 16, label, limitLabel(&l)})
	}
	return lines
}

// limitLabel is a limit in words.
func limitLabel(l *limit) string {
	if l.Name == "copy" || l.Name == "reduce" {
		return fmt.Sprintf("%s in %s, %d cores: %s", l.Name, l.Where, l.Cores, number(l.Value))
	}
	return fmt.Sprintf("%s, %s: %s", l.Name, l.Where, number(l.Value))
}

// shown are the limits that say something of transports: what all cores can do with large operands, and hand-offs.
func shown(limits []limit, results []*result) (some []limit) {
	tcp := slices.ContainsFunc(results, func(r *result) bool { return r.Transport == "tcp" || r.Transport == "mixed" })
	memory := slices.ContainsFunc(results, func(r *result) bool { return r.Transport != "tcp" })
	most := slices.Max(coreCounts())
	for _, l := range limits {
		switch {
		case strings.HasPrefix(l.Name, "tcp"):
			if tcp {
				some = append(some, l)
			}
		case memory && (l.Unit == "us" && l.Name != "process_vm_readv" || l.Where != "L1" && l.Cores == most && l.Name != "process_vm_readv"):
			some = append(some, l)
		}
	}
	return some
}

// draw measures the limits and writes the plot of results to -plot's file.
func (o *options) draw(ctx context.Context, results []*result, p *progress) (err error) {
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
