package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
)

// sample is a line of the samples in a table: the time of a variant at one point.
type sample struct {
	point
	Algorithm    string  `json:"algorithm"`
	Depth        int     `json:"depth"`
	Microseconds float64 `json:"microseconds"` // the median
	Spread       float64 `json:"spread"`       // the relative spread of the middle half of the times
}

// point is one operation, size and round, at which all variants are measured together.
type point struct {
	Collective string `json:"collective"`
	Transport  string `json:"transport"`
	Ranks      int    `json:"ranks"`
	PerHost    int    `json:"perHost"` // ranks on the host that has the most
	Bytes      int    `json:"bytes"`   // of a block
	Count      int    `json:"count"`   // elements of a block
	Round      int    `json:"round"`
}

func sampleOf(p point, v variant, t bench.Times) sample {
	slices.Sort(t)
	median := t.Median()
	return sample{p, v.algorithm, v.depth, math.Round(median*1e4) / 1e4,
		math.Round((t.Quantile(.75)-t.Quantile(.25))/median*1e4) / 1e4}
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

// The largest values that samples may have.
const (
	maxRanks  = 1 << 20
	maxRounds = 1000
)

func (s *sample) validate() error {
	o, known := bench.OperationNamed(s.Collective)
	switch {
	case !known || !slices.Contains(fast.Algorithms(o.Primitive), s.Algorithm):
		return fmt.Errorf("there is no %s by %q", s.Collective, s.Algorithm)
	case !slices.Contains(selection.Transports, s.Transport):
		return fmt.Errorf("there is no transport %q", s.Transport)
	case s.Ranks < 1 || s.Ranks > maxRanks || s.PerHost < 1 || s.PerHost > s.Ranks:
		return fmt.Errorf("%d ranks, %d on a host", s.Ranks, s.PerHost)
	case s.Bytes < 0 || s.Count < 0 || s.Count > s.Bytes || s.Depth < 1 || s.Round < 0 || s.Round > maxRounds:
		return fmt.Errorf("%d elements of together %d bytes, depth %d, round %d", s.Count, s.Bytes, s.Depth, s.Round)
	case !(s.Microseconds > 0) || math.IsInf(s.Microseconds, 0) || !(s.Spread >= 0) || math.IsInf(s.Spread, 0):
		return fmt.Errorf("it took %v microseconds, with a spread of %v", s.Microseconds, s.Spread)
	}
	return nil
}
