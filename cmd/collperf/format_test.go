package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		writeFile(t, name, got)
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

// sampleResults are as a run of three operations has them, the second of which was not checked and the third is short.
func sampleResults(t *testing.T) (all []*result) {
	t.Helper()
	zero, overlap := 0, .75
	add := func(name string, ranks, count int, inPlace bool, median float64) *result {
		o, _ := operationOf(name)
		f, _ := foldingNamed("sum")
		trial := &trial{operation: o, element: elements[0], count: count, root: 1, inPlace: inPlace}
		if o.reduces {
			trial.folding = &f
		}
		r := newResult(trial, "shm", ranks)
		r.timed(trial, spread{Min: median / 2, Median: median, Mean: median * 1.25, P50: median, P90: median * 2, P99: median * 3,
			P999: median * 4, Max: median * 1e4}, 640)
		r.Wrong = &zero
		all = append(all, r)
		return r
	}
	for count := 2; count <= 2<<20; count <<= 10 {
		add("all-reduce", 2, count, false, .12+float64(count)/8000)
		add("all-reduce", 2, count, true, .1+float64(count)/10000)
	}
	add("reduce", 4, 1000, true, 1.5).Wrong = nil
	last := add("barrier", 4, 0, false, .25)
	last.Algorithm, last.Depth, last.Overlap, last.Registered = "dissemination", 3, &overlap, true
	return all
}

func TestFormats(t *testing.T) {
	for _, args := range []string{"-format text", "-format text -percentiles -overlap", "-format csv", "-format go", "-format json"} {
		o, err := parse(append([]string{"-ranks", "2"}, strings.Fields(args)...), nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		p := newPrinter(o, &b)
		for _, r := range sampleResults(t) {
			if err := p.print(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.end(); err != nil {
			t.Fatal(err)
		}
		out := strings.NewReplacer("goos: linux", "goos: GOOS", "goos: darwin", "goos: GOOS", "goarch: amd64", "goarch: GOARCH",
			"goarch: arm64", "goarch: GOARCH").Replace(b.String())
		golden(t, strings.ReplaceAll(strings.TrimPrefix(args, "-format "), " ", "")+".golden", out)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
