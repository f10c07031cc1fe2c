package main

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/internal/figures"
)

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
		d := dot{x.at(float64(r.Bytes)), y.at(v), fmt.Sprintf("%s: %v, %s %s", g.label, figures.Size(r.Bytes), number(v), q.unit)}
		command := "L"
		if c.Path == "" {
			command = "M"
		}
		c.Path += fmt.Sprintf("%s%.1f %.1f", command, d.X, d.Y)
		c.Dots = append(c.Dots, d)
	}
	return c
}
