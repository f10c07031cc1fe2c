package report

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/internal/figures"
)

// printGo prints a result as a benchmark of package testing, for benchstat.
func printGo(_ *Options, w io.Writer, r, before *bench.Result) error {
	if before == nil {
		fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/collgen/collgen/cmd/collperf\n", runtime.GOOS, runtime.GOARCH)
	}
	line := fmt.Sprintf("%s\t%d\t%s ns/op", benchmarkName(r), r.Iterations, figures.Number(r.Microseconds.Median*1000))
	if r.AlgBW > 0 {
		line += fmt.Sprintf("\t%s MB/s", figures.Number(r.AlgBW*1000))
	}
	for _, q := range quantiles(&r.Microseconds) {
		line += fmt.Sprintf("\t%s %s-ns", figures.Number(q.value*1000), q.name)
	}
	if r.Overlap != nil {
		line += fmt.Sprintf("\t%s overlap-%%", figures.Number(*r.Overlap*100))
	}
	if r.Wrong != nil {
		line += fmt.Sprintf("\t%d wrong", *r.Wrong)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// benchmarkName returns all properties of a result in the form of package testing: AllReduce/transport=shm/….
func benchmarkName(r *bench.Result) string {
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
	if r.Reproducible {
		name += "/reproducible=true"
	}
	if r.Registered {
		name += "/registered=true"
	}
	return name + fmt.Sprintf("/place=%s/bytes=%d", place(r), r.Bytes)
}
