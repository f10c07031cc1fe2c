package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/simulate"
	"github.com/collgen/collgen/selection"
)

// sample is a measurement: a line of collperf -format json, with its round.
type sample struct {
	cell
	Training     bool `json:"training"`
	Round        int  `json:"round"`
	Microseconds struct {
		Median float64 `json:"median"`
	} `json:"microseconds"`
}

// cell is what was measured.
type cell struct {
	Collective string `json:"collective"`
	Transport  string `json:"transport"`
	Ranks      int    `json:"ranks"`
	Bytes      int    `json:"bytes"`     // of the larger buffer of a rank
	Algorithm  string `json:"algorithm"` // "": what the selection table says
}

// What samples may say at most.
const (
	mostRanks  = 256
	mostBytes  = 1 << 30
	mostRounds = 1000
)

func (s *sample) validate() error {
	if us := s.Microseconds.Median; !(us > 0) || math.IsInf(us, 0) {
		return fmt.Errorf("it took %v microseconds", us)
	}
	if s.Ranks < 2 || s.Ranks > mostRanks || s.Bytes < 0 || s.Bytes > mostBytes || s.Round < 0 || s.Round > mostRounds {
		return fmt.Errorf("%d ranks, %d bytes, round %d", s.Ranks, s.Bytes, s.Round)
	}
	return nil
}

// decodeSamples reads samples, one JSON object behind the other.
func decodeSamples(r io.Reader) (all []sample, err error) {
	for d := json.NewDecoder(r); ; {
		var s sample
		err := d.Decode(&s)
		if err == io.EOF {
			return all, nil
		}
		if err == nil {
			err = s.validate()
		}
		if err != nil {
			return nil, fmt.Errorf("measurement %d: %w", len(all)+1, err)
		}
		all = append(all, s)
	}
}

// appendSamples writes samples behind those of a file; "" is no file.
func appendSamples(path string, more []sample) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	for i := range more {
		err = errors.Join(err, e.Encode(&more[i]))
	}
	return errors.Join(err, f.Close())
}

// measured is a cell with its times in all rounds, in microseconds.
type measured struct {
	cell
	least, median, most float64
}

// gather has the samples of a transport by cell, in the order of the names, ranks and sizes.
func gather(all []sample, transport string, training bool) (cells []measured) {
	times := map[cell][]float64{}
	for i := range all {
		if s := &all[i]; s.Transport == transport && s.Training == training {
			times[s.cell] = append(times[s.cell], s.Microseconds.Median)
		}
	}
	for c, t := range times {
		slices.Sort(t)
		cells = append(cells, measured{c, t[0], median(t), t[len(t)-1]})
	}
	slices.SortFunc(cells, func(x, y measured) int {
		return cmp.Or(cmp.Compare(x.Collective, y.Collective), cmp.Compare(x.Algorithm, y.Algorithm), cmp.Compare(x.Ranks, y.Ranks),
			cmp.Compare(x.Bytes, y.Bytes))
	})
	return cells
}

// median returns the middle of sorted numbers, of which there is one at least.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// noise is in how many cells of a transport, apart from those that are fitted to, the odd rounds agree with the even
// ones as predictions have to agree, and how many there are that have both: what no prediction can be better than.
func noise(all []sample, transport string) (agree, both int) {
	halves := [2]map[cell]float64{}
	for odd := range halves {
		halves[odd] = map[cell]float64{}
		half := slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return s.Round%2 != odd })
		for _, m := range gather(half, transport, false) {
			halves[odd][m.cell] = m.median
		}
	}
	for c, even := range halves[0] {
		if odd, ok := halves[1][c]; ok {
			both++
			if within(odd / even) {
				agree++
			}
		}
	}
	return agree, both
}

// batched is up to how many bytes collperf times batches of calls, one behind the other, and batch how many of them
// stand for a batch. Longer calls begin together.
const (
	batched = 32 << 10
	batch   = 12
)

// call returns what was measured, as it is played. Half a round trip is one message.
func (c *cell) call() (simulate.Call, error) {
	primitive, name := strings.ReplaceAll(c.Collective, "-", ""), c.Algorithm
	if c.Collective == "ping-pong" {
		primitive, name = "send", catalogue.SendDirect.Name
	}
	algorithms := slices.DeleteFunc(catalogue.Algorithms(), func(a gen.Algorithm) bool {
		return !strings.HasPrefix(a.FullName(), primitive+"/")
	})
	if len(algorithms) == 0 {
		return simulate.Call{}, fmt.Errorf("there is no collective %q", c.Collective)
	}
	params := gen.Params{Size: c.Ranks, Peer: 1, Depth: 1}
	s := simulate.Call{Algorithm: &algorithms[0], Params: params, InPlace: true, Repeat: 1}
	s.Block = c.Bytes / s.Blocks()
	if c.Bytes <= batched && c.Collective != "ping-pong" {
		s.Repeat = batch
	}
	if name == "" {
		name, s.Depth = c.selected(algorithms, s.Block)
	}
	i := slices.IndexFunc(algorithms, func(a gen.Algorithm) bool { return a.Name == name })
	if i < 0 {
		return simulate.Call{}, fmt.Errorf("%s has no algorithm %q", c.Collective, name)
	}
	s.Algorithm = &algorithms[i]
	return s, nil
}

// elementBytes is how long an element of collperf's is.
const elementBytes = 4

// selected returns the algorithm that a call gets, and its depth.
func (c *cell) selected(algorithms []gen.Algorithm, block int) (name string, depth int) {
	table := catalogue.Rules(algorithms[0].Primitive, algorithms)
	i := gen.Select(table, algorithms, selection.Call{Transport: c.Transport, Size: c.Ranks, Commutative: true}, block)
	if i < 0 {
		return "", 1
	}
	return table[i].Algorithm, table[i].Depth(max(1, block/elementBytes), block)
}
