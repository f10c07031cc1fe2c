package main

import (
	"maps"
	"slices"

	"github.com/collgen/collgen/internal/figures"
)

// result compares our times of a row, at one size, with those of its fastest peer, with that peer's fastest tuning.
type result struct {
	Row    string  `json:"row"`
	Bytes  int     `json:"bytes"`
	Rounds int     `json:"rounds"`
	Ours   float64 `json:"ours"` // microseconds, as all times
	Peer   float64 `json:"peer"`
	Best   name    `json:"best"`  // the peer, and its tuning
	Ratio  float64 `json:"ratio"` // the median over rounds of the peer's time over ours
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	// the median over rounds of the least time that the limits allow; 0: not known
	Limit   float64 `json:"limit,omitempty"`
	Over    float64 `json:"over,omitempty"`    // the median over rounds of our time over that
	Missing string  `json:"missing,omitempty"` // why there is no ratio
}

// result compares the samples of a row at a size.
func (s *samples) result(r *row, bytes int) result {
	b, us := r.benchmark(bytes), ourName(r.registered)
	out := result{Row: r.name, Bytes: bytes}
	best := s.fastest(b, r.peers)
	ourTimes, peerTimes := s.times(b, us), s.times(b, best)
	all := ratios(peerTimes, ourTimes)
	if len(all) == 0 {
		out.Missing = s.missingReason(b, us, r.peers)
		return out
	}
	out.Ours, out.Peer, out.Best = medianOf(ourTimes), medianOf(peerTimes), best
	out.Rounds, out.Ratio, out.Least, out.Most = len(all), median(all), slices.Min(all), slices.Max(all)
	bounds := s.lowerBounds(b)
	out.Limit, out.Over = medianOf(bounds), median(ratios(ourTimes, bounds))
	return out
}

// fastest returns the peer and tuning with the shortest typical time, of those that ran in the most rounds. A tuning
// that was dropped after one round has too few times to be compared.
func (s *samples) fastest(b benchmark, peers []string) (who name) {
	most, shortest := 0, 0.0
	for _, p := range peers {
		for _, n := range s.tried(b, p) {
			times := s.times(b, n)
			rounds, t := len(times), medianOf(times)
			if rounds > most || rounds == most && rounds > 0 && t < shortest {
				who, most, shortest = n, rounds, t
			}
		}
	}
	return who
}

// missingReason returns why a benchmark has no ratio: a failure, or that nothing was measured.
func (s *samples) missingReason(b benchmark, us name, peers []string) string {
	if reason := s.failure(b, us); reason != "" {
		return us.String() + ": " + reason
	}
	for _, p := range peers {
		for _, n := range s.tried(b, p) {
			if reason := s.failure(b, n); reason != "" {
				return n.String() + ": " + reason
			}
		}
	}
	return "not tried"
}

// ratios returns the quotients of two kinds of times, in the rounds that have both.
func ratios(over, under map[int]float64) (all []float64) {
	for round, t := range under {
		if o, ok := over[round]; ok {
			all = append(all, o/t)
		}
	}
	return all
}

func median(values []float64) float64 { return figures.Median(slices.Sorted(slices.Values(values))) }

func medianOf(byRound map[int]float64) float64 {
	return figures.Median(slices.Sorted(maps.Values(byRound)))
}
