package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// printed has the fields that matter here of the JSON line that collperf, or a peer's program, prints.
type printed struct {
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

// maxLine is longer than any valid line.
const maxLine = 64 << 10

// parse returns the times in a program's output, in microseconds. The output must have exactly one result of each size,
// in this order, without wrong elements.
func (c call) parse(output []byte, sizes []int, registered bool) (times []float64, err error) {
	found, err := parseLines(output)
	if err != nil {
		return nil, err
	}
	if len(found) != len(sizes) {
		return nil, fmt.Errorf("%d results instead of %d", len(found), len(sizes))
	}
	for i, bytes := range sizes {
		t, err := found[i].time(benchmark{c, bytes}, registered)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sizeText(bytes), err)
		}
		times = append(times, t)
	}
	return times, nil
}

func parseLines(output []byte) (found []printed, err error) {
	s := bufio.NewScanner(bytes.NewReader(output))
	s.Buffer(nil, maxLine)
	for s.Scan() {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 || line[0] != '{' {
			continue // libraries print warnings
		}
		var p printed
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("a line is not a result: %w", err)
		}
		found = append(found, p)
	}
	return found, s.Err()
}

// time returns the median of p, after checking that p is a result of b.
func (p *printed) time(b benchmark, registered bool) (float64, error) {
	t := p.Microseconds.Median
	switch {
	case p.Wrong == nil:
		return 0, errors.New("the result was not checked")
	case *p.Wrong != 0:
		return 0, fmt.Errorf("%d elements of the result are wrong", *p.Wrong)
	case p.Collective != b.Collective || p.Ranks != b.Ranks || p.Bytes != b.Bytes:
		return 0, fmt.Errorf("a result of %s, %d ranks, %d bytes", p.Collective, p.Ranks, p.Bytes)
	case b.Bytes > 0 && (p.InPlace == nil || *p.InPlace == b.TwoBuffers):
		return 0, errors.New("the result is not in the requested buffers")
	case p.Registered == nil || *p.Registered != registered:
		return 0, errors.New("the result is not in the requested kind of memory")
	case t == nil || !(*t > 0) || math.IsInf(*t, 0):
		return 0, errors.New("the time is not above 0")
	}
	return *t, nil
}
