package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// sample is one measurement.
type sample struct {
	benchmark
	name
	Round        int     `json:"round"`
	Microseconds float64 `json:"microseconds,omitempty"`
	Failed       string  `json:"failed,omitempty"` // why there is no time
}

// name says whose time it is, ours or a peer's, and with which tuning.
type name struct {
	Who    string `json:"who"`
	Tuning string `json:"tuning,omitempty"`
}

func (n name) String() string {
	if n.Tuning == "" {
		return n.Who
	}
	return n.Who + " (" + n.Tuning + ")"
}

const ours = "collgen"

func ourName(registered bool) name {
	if registered {
		return name{Who: ours, Tuning: "registered"}
	}
	return name{Who: ours}
}

// samples are all measurements so far, and the file that keeps them, if any.
type samples struct {
	of     map[benchmark][]sample
	limits map[int]limits // by round
	file   *os.File
}

// record is a line of that file.
type record struct {
	Sample *sample `json:"sample,omitempty"`
	Limits limits  `json:"limits,omitempty"` // of the machine in a round
	Round  int     `json:"round,omitempty"`
}

// openSamples reads the samples in a file, to which new ones will be appended. An empty path stands for no file.
func openSamples(path string) (s *samples, err error) {
	s = new(samples)
	if path == "" {
		return s, nil
	}
	s.file, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := s.read(s.file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *samples) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

func (s *samples) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var r record
		err := json.Unmarshal(lines.Bytes(), &r)
		if err == nil && r.Sample != nil {
			err = r.Sample.validate()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		s.insert(r)
	}
	return lines.Err()
}

// validate reports whether a sample read from a file is plausible.
func (s *sample) validate() error {
	measured := s.Microseconds > 0 && !math.IsInf(s.Microseconds, 0)
	if s.Round < 0 || s.Round > 1<<20 || measured == (s.Failed != "") {
		return errors.New("not a valid sample")
	}
	return nil
}

func (s *samples) insert(r record) {
	if s.of == nil {
		s.of, s.limits = map[benchmark][]sample{}, map[int]limits{}
	}
	if one := r.Sample; one != nil {
		s.of[one.benchmark] = append(s.of[one.benchmark], *one)
	}
	if len(r.Limits) > 0 {
		s.limits[r.Round] = s.limits[r.Round].merge(r.Limits)
	}
}

// add inserts a record and appends it to the file.
func (s *samples) add(r record) error {
	s.insert(r)
	if s.file == nil {
		return nil
	}
	return json.NewEncoder(s.file).Encode(r)
}

// rounds returns how many rounds of a benchmark there are.
func (s *samples) rounds(b benchmark) (n int) {
	for _, one := range s.of[b] {
		n = max(n, one.Round+1)
	}
	return n
}

// times returns the times of a program in a benchmark, by round. A failed run has none.
func (s *samples) times(b benchmark, who name) map[int]float64 {
	t := make(map[int]float64)
	for _, one := range s.of[b] {
		if one.name == who && one.Failed == "" {
			t[one.Round] = one.Microseconds
		}
	}
	return t
}

// lowerBounds returns the least times that the limits allow, by round.
func (s *samples) lowerBounds(b benchmark) map[int]float64 {
	t := make(map[int]float64)
	for round, l := range s.limits {
		if least := l.lowerBound(b); least > 0 {
			t[round] = least
		}
	}
	return t
}

// tried returns the tunings with which a peer ran a benchmark, including those that failed.
func (s *samples) tried(b benchmark, who string) (names []name) {
	for _, one := range s.of[b] {
		if one.Who == who && !slices.Contains(names, one.name) {
			names = append(names, one.name)
		}
	}
	return names
}

// failure returns the reason of the last failed run; "" if none has failed.
func (s *samples) failure(b benchmark, who name) (reason string) {
	for _, one := range s.of[b] {
		if one.name == who && one.Failed != "" {
			reason = one.Failed
		}
	}
	return reason
}

// After the first round, the peers of a row go on with at most maxTunings of their tunings, and as many of their
// defaults, which take at most maxSlowdown times as long as the fastest one.
const (
	maxTunings  = 3
	maxSlowdown = 1.4
)

// isDefault and isAny say which tunings count.
func isDefault(n name) bool { return n.Tuning == byDefault }
func isAny(name) bool       { return true }

// worthwhile returns the tunings of some peers that are worth another round, of those that count, the fastest first.
func (s *samples) worthwhile(b benchmark, peers []*peer, counts func(name) bool) (names []name) {
	for _, p := range peers {
		for _, n := range s.tried(b, p.name) {
			if counts(n) && len(s.times(b, n)) > 0 {
				names = append(names, n)
			}
		}
	}
	typical := func(n name) float64 { return medianOf(s.times(b, n)) }
	slices.SortStableFunc(names, func(x, y name) int { return cmp.Compare(typical(x), typical(y)) })
	for i, n := range names {
		if i == maxTunings || typical(n) > maxSlowdown*typical(names[0]) {
			return names[:i]
		}
	}
	return names
}
