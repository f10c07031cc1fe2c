package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// result is the part that counts here of a line of JSON that collperf, or a peer's program, prints.
type result struct {
	Collective   string `json:"collective"`
	Ranks        int    `json:"ranks"`
	Bytes        int    `json:"bytes"`
	InPlace      *bool  `json:"inPlace"`
	Registered   *bool  `json:"registered"`
	Microseconds struct {
		Median *float64 `json:"median"`
	} `json:"microseconds"`
	Wrong *int `json:"wrong"`
}

// longestLine is more than any line is that says what it should.
const longestLine = 64 << 10

// median returns the time in what a program has printed, in microseconds, if it printed exactly one result, of the
// contest, and with nothing wrong in it.
func (c contest) median(printed []byte, registered bool) (float64, error) {
	var found []result
	s := bufio.NewScanner(bytes.NewReader(printed))
	s.Buffer(nil, longestLine)
	for s.Scan() {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 || line[0] != '{' {
			continue // libraries print warnings
		}
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return 0, fmt.Errorf("a line that is no result: %w", err)
		}
		found = append(found, r)
	}
	if err := s.Err(); err != nil {
		return 0, err
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d results instead of one", len(found))
	}
	return found[0].time(c, registered)
}

// time returns the median of a result, if the result is of c.
func (r *result) time(c contest, registered bool) (float64, error) {
	t := r.Microseconds.Median
	switch {
	case r.Wrong == nil:
		return 0, errors.New("the result was not checked")
	case *r.Wrong != 0:
		return 0, fmt.Errorf("%d elements of the result are wrong", *r.Wrong)
	case r.Collective != c.Collective || r.Ranks != c.Ranks || r.Bytes != c.Bytes:
		return 0, fmt.Errorf("a result of %s, %d ranks, %d bytes", r.Collective, r.Ranks, r.Bytes)
	case c.Bytes > 0 && (r.InPlace == nil || *r.InPlace == c.TwoBuffers):
		return 0, errors.New("a result that is not of the buffers asked for")
	case r.Registered == nil || *r.Registered != registered:
		return 0, errors.New("a result that is not of the memory asked for")
	case t == nil || !(*t > 0) || math.IsInf(*t, 0):
		return 0, errors.New("a time that is not above 0")
	}
	return *t, nil
}

// name says who ran: ours or a peer, and with which tuning.
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

// sample is one measurement.
type sample struct {
	contest
	name
	Round        int     `json:"round"`
	Microseconds float64 `json:"microseconds,omitempty"`
	Failed       string  `json:"failed,omitempty"` // why there is no time
}
