package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
)

// sample is a line of a table's samples: how long a variant took at one point.
type sample struct {
	point
	Algorithm    string  `json:"algorithm"`
	Depth        int     `json:"depth"`
	Microseconds float64 `json:"microseconds"` // the median
	Spread       float64 `json:"spread"`       // how far the middle half of the times is spread, relatively
}

// point is where all variants of an operation are measured together.
type point struct {
	Collective string `json:"collective"`
	Transport  string `json:"transport"`
	Ranks      int    `json:"ranks"`
	PerHost    int    `json:"perHost"` // ranks on the host that has the most
	Bytes      int    `json:"bytes"`   // of a block
	Count      int    `json:"count"`   // elements of a block
	Round      int    `json:"round"`
}

func sampleOf(p point, v variant, t times) sample {
	slices.Sort(t)
	median := t.median()
	return sample{p, v.algorithm, v.depth, math.Round(median*1e4) / 1e4, math.Round((t.quantile(.75)-t.quantile(.25))/median*1e4) / 1e4}
}

// knows reports whether p was measured.
func (t *tuner) knows(p point) bool {
	return slices.ContainsFunc(t.samples, func(s sample) bool { return s.point == p })
}

// load has t go on with the table of a file; "", or none that is there, is no table.
func (t *tuner) load(file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		t.samples, err = decodeSamples(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// decodeSamples reads the samples of a table.
func decodeSamples(text []byte) (all []sample, err error) {
	table, err := fast.DecodeTuning(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if table.Samples == nil {
		return nil, errors.New("the table has no samples to go on with")
	}
	if err := json.Unmarshal(table.Samples, &all); err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	for i := range all {
		if err := all[i].validate(); err != nil {
			return nil, fmt.Errorf("sample %d: %w", i+1, err)
		}
	}
	return all, nil
}

// What a sample may say at most.
const (
	mostRanks  = 1 << 20
	mostRounds = 1000
)

func (s *sample) validate() error {
	o, known := operationOf(s.Collective)
	switch {
	case !known || !slices.Contains(fast.Algorithms(o.primitive), s.Algorithm):
		return fmt.Errorf("there is no %s by %q", s.Collective, s.Algorithm)
	case !slices.Contains(selection.Transports, s.Transport):
		return fmt.Errorf("there is no transport %q", s.Transport)
	case s.Ranks < 1 || s.Ranks > mostRanks || s.PerHost < 1 || s.PerHost > s.Ranks:
		return fmt.Errorf("%d ranks, %d on a host", s.Ranks, s.PerHost)
	case s.Bytes < 0 || s.Count < 0 || s.Count > s.Bytes || s.Depth < 1 || s.Round < 0 || s.Round > mostRounds:
		return fmt.Errorf("%d elements of together %d bytes, depth %d, round %d", s.Count, s.Bytes, s.Depth, s.Round)
	case !(s.Microseconds > 0) || math.IsInf(s.Microseconds, 0) || !(s.Spread >= 0) || math.IsInf(s.Spread, 0):
		return fmt.Errorf("it took %v microseconds, with a spread of %v", s.Microseconds, s.Spread)
	}
	return nil
}

// replaceFile writes a file, all of it or nothing.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
