package report

import (
	"fmt"
	"strconv"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/internal/figures"
)

// Options are the columns of text.
type Options struct {
	Places      []bool // whether in place, in the order of the columns
	Percentiles bool
	Overlap     bool
}

// quantile is a percentile of a spread, with its name.
type quantile struct {
	name  string
	value float64
}

func quantiles(s *bench.Spread) []quantile {
	return []quantile{{"p50", s.P50}, {"p90", s.P90}, {"p99", s.P99}, {"p99.9", s.P999}, {"max", s.Max}}
}

func place(r *bench.Result) string {
	if r.InPlace {
		return "in"
	}
	return "out"
}

// wrongText returns the number of wrong elements, or another text if they were not checked.
func wrongText(n *int, unchecked string) string {
	if n == nil {
		return unchecked
	}
	return strconv.Itoa(*n)
}

func overlapText(share *float64, unmeasured string) string {
	if share == nil {
		return unmeasured
	}
	return figures.Number(*share)
}

// ranksOver returns who measured, in words.
func ranksOver(r *bench.Result) string {
	if r.Ranks == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks over %s", r.Ranks, r.Transport)
}
