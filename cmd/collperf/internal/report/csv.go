package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/internal/figures"
)

// column is a column of CSV.
type column struct {
	name  string
	value func(r *bench.Result) string
}

// columns are all columns of CSV.
var columns = []column{
	{"collective", func(r *bench.Result) string { return r.Collective }},
	{"transport", func(r *bench.Result) string { return r.Transport }},
	{"ranks", func(r *bench.Result) string { return strconv.Itoa(r.Ranks) }},
	{"bytes", func(r *bench.Result) string { return strconv.Itoa(r.Bytes) }},
	{"count", func(r *bench.Result) string { return strconv.Itoa(r.Count) }},
	{"type", func(r *bench.Result) string { return r.Type }},
	{"op", func(r *bench.Result) string { return r.Op }},
	{"root", func(r *bench.Result) string { return strconv.Itoa(r.Root) }},
	{"place", place},
	{"registered", func(r *bench.Result) string { return strconv.FormatBool(r.Registered) }},
	{"algorithm", func(r *bench.Result) string { return r.Algorithm }},
	{"depth", func(r *bench.Result) string { return strconv.Itoa(r.Depth) }},
	{"iterations", func(r *bench.Result) string { return strconv.Itoa(r.Iterations) }},
	{"min us", func(r *bench.Result) string { return figures.Number(r.Microseconds.Min) }},
	{"median us", func(r *bench.Result) string { return figures.Number(r.Microseconds.Median) }},
	{"mean us", func(r *bench.Result) string { return figures.Number(r.Microseconds.Mean) }},
	{"p50 us", func(r *bench.Result) string { return figures.Number(r.Microseconds.P50) }},
	{"p90 us", func(r *bench.Result) string { return figures.Number(r.Microseconds.P90) }},
	{"p99 us", func(r *bench.Result) string { return figures.Number(r.Microseconds.P99) }},
	{"p99.9 us", func(r *bench.Result) string { return figures.Number(r.Microseconds.P999) }},
	{"max us", func(r *bench.Result) string { return figures.Number(r.Microseconds.Max) }},
	{"algbw GB/s", func(r *bench.Result) string { return figures.Number(r.AlgBW) }},
	{"busbw GB/s", func(r *bench.Result) string { return figures.Number(r.BusBW) }},
	{"wrong", func(r *bench.Result) string { return wrongText(r.Wrong, "") }},
	{"overlap", func(r *bench.Result) string { return overlapText(r.Overlap, "") }},
	{"reproducible", func(r *bench.Result) string { return strconv.FormatBool(r.Reproducible) }},
}

func printCSV(_ *Options, w io.Writer, r, before *bench.Result) error {
	c := csv.NewWriter(w)
	var names, values []string
	for _, c := range columns {
		names, values = append(names, c.name), append(values, c.value(r))
	}
	if before == nil {
		_ = c.Write(names) // Error has its error
	}
	_ = c.Write(values)
	c.Flush()
	return c.Error()
}
