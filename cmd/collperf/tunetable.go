package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/collgen/collgen/fast"
)

// table is the file with the rules that follow from what was measured.
func (o *options) table(all []measured, now time.Time) ([]byte, error) {
	t := fast.Tuning{Machine: machine(), Date: now.Format(time.DateOnly), Command: command(), Rules: rulesOf(all, o.factor)}
	text, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-len("\n}")], ",\n\t\"samples\": ["...)
	for i, s := range samplesOf(all) {
		line, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		text = append(append(text, [...]string{",\n\t\t", "\n\t\t"}[truth(i == 0)]...), line...) // a line each
	}
	text = append(text, "\n\t]\n}\n"...)
	if _, err := fast.DecodeTuning(bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("the table is not one: %w", err)
	}
	return text, nil
}

// sample is what a line of the table's samples says: the median time of a variant.
type sample struct {
	Collective   string  `json:"collective"`
	Transport    string  `json:"transport"`
	Ranks        int     `json:"ranks"`
	Bytes        int     `json:"bytes"` // of a block
	Algorithm    string  `json:"algorithm"`
	Depth        int     `json:"depth"`
	Microseconds float64 `json:"microseconds"`
}

func samplesOf(all []measured) (samples []sample) {
	for i := range all {
		m := &all[i]
		for _, at := range m.sizes {
			for _, v := range variantsOf(m.candidates, at.count, at.bytes) {
				samples = append(samples, sample{m.name, m.transport, m.ranks, at.bytes, v.algorithm, v.depth,
					math.Round(at.times[v].median()*1e4) / 1e4})
			}
		}
	}
	return samples
}

// machine is this one in words.
func machine() string {
	model := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, found := strings.Cut(string(text), "model name"); found {
			model, _, _ = strings.Cut(rest, "\n")
			model = ", " + strings.Trim(model, "\t :")
		}
	}
	return fmt.Sprintf("%d cores, %s/%s%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, model)
}

// command is how this process was called.
func command() string {
	return strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ")
}
