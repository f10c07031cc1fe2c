package main

import (
	"fmt"
	"math"
	"slices"
)

// mean summarizes the results of a group of rows.
type mean struct {
	Group   string  `json:"group"`
	Cells   int     `json:"cells"` // with both ratios
	Default average `json:"default"`
	Best    average `json:"best"`
}

// average summarizes ratios.
type average struct {
	Mean  float64 `json:"mean"`  // geometric
	Ahead int     `json:"ahead"` // how many are 1 or more
}

// means returns those of all groups, in the order in which they begin.
func means(results []result) (all []mean) {
	var groups []string
	defaults, bests := make(map[string][]float64), make(map[string][]float64)
	for i := range results {
		r := &results[i]
		if r.Group == "" || r.Default.Rounds == 0 || r.Best.Rounds == 0 {
			continue
		}
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
		defaults[r.Group] = append(defaults[r.Group], r.Default.Ratio)
		bests[r.Group] = append(bests[r.Group], r.Best.Ratio)
	}
	for _, g := range groups {
		all = append(all, mean{g, len(bests[g]), averageOf(defaults[g]), averageOf(bests[g])})
	}
	return all
}

func averageOf(ratios []float64) (a average) {
	for _, r := range ratios {
		a.Mean += math.Log(r) / float64(len(ratios))
		if r >= 1 {
			a.Ahead++
		}
	}
	a.Mean = math.Exp(a.Mean)
	return a
}

// meansTable returns a line for each group.
func meansTable(results []result) grid {
	g := grid{{"geometric mean", "cells", "peers at defaults", "1.0 or more", "peers at their best", "1.0 or more"}}
	for _, m := range means(results) {
		g = append(g, []string{m.Group, fmt.Sprint(m.Cells), number(m.Default.Mean), fmt.Sprint(m.Default.Ahead),
			number(m.Best.Mean), fmt.Sprint(m.Best.Ahead)})
	}
	return g
}
