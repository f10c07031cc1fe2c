package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
	"github.com/collgen/collgen/internal/drawing"
	"github.com/collgen/collgen/internal/figures"
)

// chart is a chart of results and limits.
type chart struct {
	drawing.Chart
	limits []limitLine
}

// limitLine is a limit with the height of its label.
type limitLine struct {
	at, labelAt float64
	label       string
}

// The geometry of a picture, in pixels.
const (
	chartLeft, chartRight     = 64, 664
	chartTop, chartHeight     = 72, 300
	chartGap                  = 72
	labelHeight, legendHeight = 14, 20
)

// quantityKind is the quantity that a chart shows.
type quantityKind struct {
	title, unit string
	of          func(r *bench.Result) float64
}

var quantities = []quantityKind{
	{"bus bandwidth, GB/s", "GB/s", func(r *bench.Result) float64 { return r.BusBW }},
	{"time, µs", "us", func(r *bench.Result) float64 { return r.Microseconds.Median }},
}

// group is the results of one curve.
type group struct {
	label   string
	color   int
	dashed  bool
	results []*bench.Result
}

// groupsOf sorts results into curves. In place and out of place have one color. A barrier has no size and no curve.
func groupsOf(results []*bench.Result) (groups []*group) {
	var names []string
	for _, r := range results {
		if r.Bytes == 0 {
			continue
		}
		name := r.Collective + ", " + ranksOver(r)
		if r.Algorithm != "" {
			name += ", " + r.Algorithm
		}
		if r.Registered {
			name += ", registered buffers"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		label := name + map[bool]string{true: ", in place", false: ", out of place"}[r.InPlace]
		i := slices.IndexFunc(groups, func(g *group) bool { return g.label == label })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{label: label, color: slices.Index(names, name), dashed: !r.InPlace})
		}
		groups[i].results = append(groups[i].results, r)
	}
	return groups
}

func newChart(q quantityKind, top float64, groups []*group, all []limits.Limit) *chart {
	c := &chart{Chart: drawing.Chart{Title: q.title, Left: chartLeft, Top: top, Right: chartRight,
		Bottom: top + chartHeight}}
	x, y := drawing.Axis{From: c.Left, To: c.Right}, drawing.Axis{From: c.Bottom, To: c.Top}
	all = slices.DeleteFunc(slices.Clone(all), func(l limits.Limit) bool { return l.Unit != q.unit || l.Value <= 0 })
	for _, l := range all {
		y.Extend(l.Value)
	}
	for _, g := range groups {
		for _, r := range g.results {
			if v := q.of(r); v > 0 {
				x.Extend(float64(r.Bytes))
				y.Extend(v)
			}
		}
	}
	if x.Least == 0 {
		return c // there is nothing to show
	}
	c.Y = y.Decades()
	c.X = x.Sizes(figures.SizeText)
	for _, g := range groups {
		c.Curves = append(c.Curves, newCurve(q, g, &x, &y))
	}
	c.limits = limitLines(all, &y)
	return c
}

func newCurve(q quantityKind, g *group, x, y *drawing.Axis) drawing.Curve {
	c := drawing.Curve{Color: g.color, Dashed: g.dashed}
	for _, r := range g.results {
		v := q.of(r)
		if v <= 0 {
			continue
		}
		c.Dots = append(c.Dots, drawing.CurveDot{Point: drawing.Point{X: x.At(float64(r.Bytes)), Y: y.At(v)},
			Says: fmt.Sprintf("%s: %v, %s %s", g.label, figures.Size(r.Bytes), figures.Number(v), q.unit)})
	}
	return c
}

// limitLines returns the lines from top to bottom, with labels that do not overlap.
func limitLines(all []limits.Limit, y *drawing.Axis) (lines []limitLine) {
	slices.SortStableFunc(all, func(a, b limits.Limit) int { return cmp.Compare(b.Value, a.Value) })
	free := 0.0
	for _, l := range all {
		at := y.At(l.Value)
		label := max(at, free)
		free = label + labelHeight
		lines = append(lines, limitLine{at, label, limitLabel(&l)})
	}
	return lines
}

// limitLabel returns a limit in words.
func limitLabel(l *limits.Limit) string {
	if l.Name == "copy" || l.Name == "reduce" {
		return fmt.Sprintf("%s in %s, %d cores: %s", l.Name, l.Where, l.Cores, figures.Number(l.Value))
	}
	return fmt.Sprintf("%s, %s: %s", l.Name, l.Where, figures.Number(l.Value))
}

// relevant returns the limits that concern the transports of results: of all cores with large operands, and hand-overs.
func relevant(all []limits.Limit, results []*bench.Result) (some []limits.Limit) {
	tcp := slices.ContainsFunc(results, func(r *bench.Result) bool {
		return r.Transport == "tcp" ||
			r.Transport == "mixed"
	})
	memory := slices.ContainsFunc(results, func(r *bench.Result) bool { return r.Transport != "tcp" })
	most := slices.Max(limits.CoreCounts())
	for _, l := range all {
		switch {
		case strings.HasPrefix(l.Name, "tcp"):
			if tcp {
				some = append(some, l)
			}
		case l.Name == "process_vm_readv":
		case memory && (l.Unit == "us" || l.Where != "L1" && l.Cores == most):
			some = append(some, l)
		}
	}
	return some
}
