package main

import (
	"encoding/csv"
	"io"
	"strconv"
)

// column is one of a table of results.
type column struct {
	name  string
	value func(r *result) string
}

// columns are those of CSV.
var columns = []column{
	{"collective", func(r *result) string { return r.Collective }},
	{"transport", func(r *result) string { return r.Transport }},
	{"ranks", func(r *result) string { return strconv.Itoa(r.Ranks) }},
	{"bytes", func(r *result) string { return strconv.Itoa(r.Bytes) }},
	{"count", func(r *result) string { return strconv.Itoa(r.Count) }},
	{"type", func(r *result) string { return r.Type }},
	{"op", func(r *result) string { return r.Op }},
	{"root", func(r *result) string { return strconv.Itoa(r.Root) }},
	{"place", place},
	{"registered", func(r *result) string { return strconv.FormatBool(r.Registered) }},
	{"algorithm", func(r *result) string { return r.Algorithm }},
	{"depth", func(r *result) string { return strconv.Itoa(r.Depth) }},
	{"iterations", func(r *result) string { return strconv.Itoa(r.Iterations) }},
	{"min us", func(r *result) string { return number(r.Microseconds.Min) }},
	{"median us", func(r *result) string { return number(r.Microseconds.Median) }},
	{"mean us", func(r *result) string { return number(r.Microseconds.Mean) }},
	{"p50 us", func(r *result) string { return number(r.Microseconds.P50) }},
	{"p90 us", func(r *result) string { return number(r.Microseconds.P90) }},
	{"p99 us", func(r *result) string { return number(r.Microseconds.P99) }},
	{"p99.9 us", func(r *result) string { return number(r.Microseconds.P999) }},
	{"max us", func(r *result) string { return number(r.Microseconds.Max) }},
	{"algbw GB/s", func(r *result) string { return number(r.AlgBW) }},
	{"busbw GB/s", func(r *result) string { return number(r.BusBW) }},
	{"wrong", func(r *result) string { return wrongText(r.Wrong, "") }},
	{"overlap", func(r *result) string { return overlapText(r.Overlap, "") }},
}

func printCSV(_ *options, w io.Writer, r, before *result) error {
	c := csv.NewWriter(w)
	if before == nil {
		_ = c.Write(names(columns, func(c column) string { return c.name })) // Error has its error
	}
	_ = c.Write(names(columns, func(c column) string { return c.value(r) }))
	c.Flush()
	return c.Error()
}

// number returns x to four digits, or all of its integer part.
func number(x float64) string {
	if x >= 1000 || x <= -1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// wrongText returns how many elements are wrong, or what stands for unchecked.
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
	return number(*share)
}
