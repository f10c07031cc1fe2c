package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

// sampleResults are as a run of three operations has them, the second of which was reproducible and not checked, and
// the third is short.
func sampleResults(t *testing.T) (all []*bench.Result) {
	t.Helper()
	zero, overlap := 0, .75
	add := func(name string, ranks, count int, inPlace bool, median float64) *bench.Result {
		o, _ := bench.OperationNamed(name)
		f, _ := bench.ReductionNamed("sum")
		c := &bench.Case{Operation: o, Element: bench.Elements[0], Count: count, Root: 1, InPlace: inPlace}
		if name != "barrier" {
			c.Reduction = &f
		}
		r := bench.NewResult(c, "shm", ranks)
		r.SetTimes(c, bench.Spread{Min: median / 2, Median: median, Mean: median * 1.25, P50: median, P90: median * 2,
			P99:  median * 3,
			P999: median * 4, Max: median * 1e4}, 640)
		r.Wrong = &zero
		all = append(all, r)
		return r
	}
	for count := 2; count <= 2<<20; count <<= 10 {
		add("all-reduce", 2, count, false, .12+float64(count)/8000)
		add("all-reduce", 2, count, true, .1+float64(count)/10000)
	}
	second := add("reduce", 4, 1000, true, 1.5)
	second.Wrong, second.Reproducible = nil, true
	last := add("barrier", 4, 0, false, .25)
	last.Algorithm, last.Depth, last.Overlap, last.Registered = "dissemination", 3, &overlap, true
	return all
}

func TestFormats(t *testing.T) {
	both := []bool{false, true}
	for name, o := range map[string]Options{"text": {}, "text-percentiles-overlap": {Percentiles: true, Overlap: true},
		"csv": {}, "go": {},
		"json": {}} {
		format, _, _ := strings.Cut(name, "-")
		o.Places = both
		var b bytes.Buffer
		p := NewPrinter(format, o, &b)
		for _, r := range sampleResults(t) {
			if err := p.Print(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
		out := strings.NewReplacer("goos: linux", "goos: GOOS", "goos: darwin", "goos: GOOS", "goarch: amd64",
			"goarch: GOARCH",
			"goarch: arm64", "goarch: GOARCH").Replace(b.String())
		golden(t, name+".golden", out)
	}
}
