package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// format is a way to print results.
type format struct {
	name string
	// print prints one result; before is the one printed before, nil at first.
	print func(o *options, w io.Writer, r, before *result) error
	// end prints what comes after the last one; nil: nothing.
	end func(o *options, w io.Writer, last *result) error
}

var formats = []format{
	{"text", printText, endText},
	{"json", printJSON, nil},
	{"csv", printCSV, nil},
	{"go", printGo, nil},
}

// printer prints results one after the other.
type printer struct {
	*options
	format
	w      io.Writer
	before *result
}

func newPrinter(o *options, w io.Writer) *printer {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == o.format })
	return &printer{options: o, format: formats[i], w: w}
}

func (p *printer) print(r *result) error {
	err := p.format.print(p.options, p.w, r, p.before)
	p.before = r
	return err
}

func (p *printer) end() error {
	if p.format.end == nil {
		return nil
	}
	return p.format.end(p.options, p.w, p.before)
}

func printJSON(_ *options, w io.Writer, r, _ *result) error { return json.NewEncoder(w).Encode(r) }

// printGo prints a result as a benchmark of package testing, for benchstat.
func printGo(_ *options, w io.Writer, r, before *result) error {
	if before == nil {
		fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/collgen/collgen/cmd/collperf\n", runtime.GOOS, runtime.GOARCH)
	}
	line := fmt.Sprintf("%s\t%d\t%s ns/op", benchmarkName(r), r.Iterations, number(r.Microseconds.Median*1000))
	if r.AlgBW > 0 {
		line += fmt.Sprintf("\t%s MB/s", number(r.AlgBW*1000))
	}
	for _, q := range r.Microseconds.quantiles() {
		line += fmt.Sprintf("\t%s %s-ns", number(q.value*1000), q.name)
	}
	if r.Overlap != nil {
		line += fmt.Sprintf("\t%s overlap-%%", number(*r.Overlap*100))
	}
	if r.Wrong != nil {
		line += fmt.Sprintf("\t%d wrong", *r.Wrong)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// benchmarkName has all that tells a result from others, in the form of testing: AllReduce/transport=shm/….
func benchmarkName(r *result) string {
	name := "Benchmark"
	for word := range strings.SplitSeq(r.Collective, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	name += fmt.Sprintf("/transport=%s/ranks=%d", r.Transport, r.Ranks)
	for _, part := range []struct{ key, value string }{{"type", r.Type}, {"op", r.Op}, {"algorithm", r.Algorithm}} {
		if part.value != "" {
			name += "/" + part.key + "=" + part.value
		}
	}
	if r.Depth > 0 {
		name += fmt.Sprintf("/depth=%d", r.Depth)
	}
	if r.Registered {
		name += "/registered=true"
	}
	return name + fmt.Sprintf("/place=%s/bytes=%d", place(r), r.Bytes)
}

func place(r *result) string {
	if r.InPlace {
		return "in"
	}
	return "out"
}
