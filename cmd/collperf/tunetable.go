package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/collgen/collgen/fast"
)

// table returns the file with the rules that follow from what was measured.
func table(samples []sample, now time.Time) ([]byte, error) {
	t := fast.Tuning{Machine: machine(), Date: now.Format(time.DateOnly), Command: command(), Rules: rulesOf(measuredOf(samples))}
	text, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-len("\n}")], ",\n\t\"samples\": ["...)
	for i, s := range samples {
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

// machine returns this one in words.
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

// command returns how this process was called.
func command() string {
	return strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ")
}
