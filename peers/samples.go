package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// samples are all measurements so far, and a file that they are kept in, if there is one.
type samples struct {
	all    []sample
	limits map[int]limits // by round
	file   *os.File
}

// record is a line of that file.
type record struct {
	Sample *sample `json:"sample,omitempty"`
	Limits limits  `json:"limits,omitempty"` // of the machine in a round
	Round  int     `json:"round,omitempty"`
}

// keep has samples go on with those of a file, and adds what is measured to it. "" is no file.
func keep(path string) (s *samples, err error) {
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
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		var r record
		err := json.Unmarshal(lines.Bytes(), &r)
		if err == nil && r.Sample != nil {
			err = r.Sample.check()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		s.take(r)
	}
	return lines.Err()
}

func (s *samples) take(r record) {
	if r.Sample != nil {
		s.all = append(s.all, *r.Sample)
	}
	if s.limits == nil {
		s.limits = map[int]limits{}
	}
	if len(r.Limits) > 0 {
		s.limits[r.Round] = s.limits[r.Round].merge(r.Limits)
	}
}

// add takes a record and keeps it.
func (s *samples) add(r record) error {
	s.take(r)
	if s.file == nil {
		return nil
	}
	return json.NewEncoder(s.file).Encode(r)
}

// check reports whether a sample can be one.
func (s *sample) check() error {
	measured := s.Microseconds > 0 && !math.IsInf(s.Microseconds, 0)
	if s.Round < 0 || s.Round > 1<<20 || measured == (s.Failed != "") {
		return errors.New("this is no sample")
	}
	return nil
}

// rounds returns how many rounds of a contest there are.
func (s *samples) rounds(c contest) (n int) {
	for i := range s.all {
		if s.all[i].contest == c {
			n = max(n, s.all[i].Round+1)
		}
	}
	return n
}

// times returns those of who ran in a contest, by round; a failed one has none.
func (s *samples) times(c contest, who name) map[int]float64 {
	t := make(map[int]float64)
	for i := range s.all {
		if one := &s.all[i]; one.contest == c && one.name == who && one.Failed == "" {
			t[one.Round] = one.Microseconds
		}
	}
	return t
}

// leasts returns the shortest times that the limits allow, by round.
func (s *samples) leasts(c contest, registered bool) map[int]float64 {
	t := make(map[int]float64)
	for round, l := range s.limits {
		if least := l.least(c, registered); least > 0 {
			t[round] = least
		}
	}
	return t
}

// tried returns the tunings with which somebody ran in a contest, whether they failed or not.
func (s *samples) tried(c contest, who string) (names []name) {
	for i := range s.all {
		if one := &s.all[i]; one.contest == c && one.Who == who && !slices.Contains(names, one.name) {
			names = append(names, one.name)
		}
	}
	return names
}

// failed returns why the last measurement that failed did; "" if none has.
func (s *samples) failed(c contest, who name) (reason string) {
	for i := range s.all {
		if one := &s.all[i]; one.contest == c && one.name == who && one.Failed != "" {
			reason = one.Failed
		}
	}
	return reason
}

// mostKept and keptWithin say with which tunings a peer goes on after a round: so many, and only those that take at
// most so many times as long as its best one.
const (
	mostKept   = 3
	keptWithin = 1.4
)

// kept returns the tunings of a peer that are worth another round; all that did not fail are, before the second.
func (s *samples) kept(c contest, who string) (names []name) {
	for _, n := range s.tried(c, who) {
		if len(s.times(c, n)) > 0 {
			names = append(names, n)
		}
	}
	typical := func(n name) float64 { return medianOf(s.times(c, n)) }
	slices.SortStableFunc(names, func(a, b name) int { return compare(typical(a), typical(b)) })
	for i, n := range names {
		if i == mostKept || typical(n) > keptWithin*typical(names[0]) {
			return names[:i]
		}
	}
	return names
}
