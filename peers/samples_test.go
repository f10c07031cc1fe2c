package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var testBenchmark = benchmark{call{Collective: "all-reduce", Transport: "shm", Ranks: 2}, 8}

// line returns a result in JSON, with one thing replaced.
func line(old, new string) string {
	const good = `{"collective":"all-reduce","transport":"shm","ranks":2,"bytes":8,"count":2,"inPlace":true,"registered":false,` +
		`"microseconds":{"min":1,"median":1.5},"wrong":0}`
	if !strings.Contains(good, old) {
		panic(old)
	}
	return strings.Replace(good, old, new, 1) + "\n"
}

func TestParse(t *testing.T) {
	good := line("", "")
	for _, output := range []string{good, "\n" + good + "\n", "a warning\n" + good} {
		got, err := testBenchmark.parse([]byte(output), []int{8}, false)
		if err != nil || !slices.Equal(got, []float64{1.5}) {
			t.Errorf("%q: %v, %v", output, got, err)
		}
	}
	for _, bad := range []string{
		"", "no result\n", good + good, good[:len(good)-3], "{}", "null", "[1]", "{" + strings.Repeat("x", maxLine),
		line(`"ranks":2`, `"ranks":3`), line(`"bytes":8`, `"bytes":16`), line("all-reduce", "broadcast"),
		line(`"wrong":0`, `"wrong":1`), line(`"wrong":0`, `"wrong":null`), line(`"wrong":0`, `"wrong":-1`),
		line(`,"wrong":0`, ``),
		line(`"inPlace":true`, `"inPlace":false`), line(`"inPlace":true`, `"inPlace":7`),
		line(`"registered":false`, `"registered":true`),
		line(`1.5`, `0`), line(`1.5`, `-3`), line(`1.5`, `1e999`), line(`1.5`, `"1.5"`), line(`1.5`, `null`),
		line(`"median"`, `"mode"`),
	} {
		if got, err := testBenchmark.parse([]byte(bad), []int{8}, false); err == nil {
			t.Errorf("%.200q is taken for %v", bad, got)
		}
	}
	larger, slow := strings.NewReplacer(`"bytes":8`, `"bytes":64`), strings.NewReplacer("1.5", "2.5")
	two := good + slow.Replace(larger.Replace(good))
	if got, err := testBenchmark.parse([]byte(two), []int{8, 64}, false); err != nil ||
		!slices.Equal(got, []float64{1.5, 2.5}) {
		t.Errorf("two sizes: %v, %v", got, err)
	}
	if got, err := testBenchmark.parse([]byte(two), []int{64, 8}, false); err == nil {
		t.Errorf("two sizes in the other order: %v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(line("", "")))
	f.Add([]byte(line("1.5", "1e400")))
	f.Fuzz(func(t *testing.T, output []byte) {
		times, err := testBenchmark.parse(output, []int{8}, false)
		if err != nil {
			return
		}
		for _, got := range times {
			if !(got > 0 && got <= math.MaxFloat64) {
				t.Errorf("%v is no time", got)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(`{"sample":{"collective":"barrier","who":"collgen","round":0,"microseconds":1}}`)
	f.Add(`{"limits":[{"limit":"copy","where":"L3","value":3,"unit":"GB/s"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s samples
		if s.read(strings.NewReader(text)) != nil {
			return
		}
		for _, one := range slices.Concat(slices.Collect(maps.Values(s.of))...) {
			if err := one.validate(); err != nil {
				t.Errorf("%+v: %v", one, err)
			}
		}
		s.result(&testRow, 8)
	})
}

// TestKeep reopens a file of samples and appends to it.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	for round := range 3 {
		s, err := openSamples(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.rounds(testBenchmark); got != round || len(s.limits) != round {
			t.Fatalf("%d rounds and limits of %d before round %d", got, len(s.limits), round)
		}
		one := sample{benchmark: testBenchmark, name: name{Who: ours}, Round: round, Microseconds: 1}
		for _, r := range []record{{Sample: &one}, {Round: round, Limits: limits{{Name: "copy", Value: 1, Unit: "GB/s"}}}} {
			if err := s.add(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadRefuses refuses lines that are not records.
func TestReadRefuses(t *testing.T) {
	for _, bad := range []string{
		"x", `{"sample":{}}`, `{"sample":{"microseconds":1,"failed":"too"}}`, `{"sample":{"microseconds":-1}}`,
		`{"sample":{"microseconds":1,"round":-1}}`, `{"sample":{"microseconds":1,"round":99999999999}}`,
		fmt.Sprintf("%q", strings.Repeat("x", maxLine)),
	} {
		if err := new(samples).read(strings.NewReader(bad)); err == nil {
			t.Errorf("%.100q is taken for a record", bad)
		}
	}
}
