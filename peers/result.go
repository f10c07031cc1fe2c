package main

import (
	"maps"
	"slices"

	"github.com/collgen/collgen/internal/figures"
)

// result compares our times of a row, at one size, with those of its peers.
type result struct {
	Row     string     `json:"row"`
	Group   string     `json:"group,omitempty"`
	Bytes   int        `json:"bytes"`
	Ours    float64    `json:"ours"`    // microseconds, as all times
	Default standing   `json:"default"` // of the fastest peer with its default
	Best    standing   `json:"best"`    // of the fastest peer with its fastest tuning
	Peers   []standing `json:"peers"`   // of each peer, with its default and with its fastest tuning
	// the median over rounds of the least time that the limits allow; 0: not known
	Limit   float64 `json:"limit,omitempty"`
	Over    float64 `json:"over,omitempty"`    // the median over rounds of our time over that
	Missing string  `json:"missing,omitempty"` // why there is no ratio
}

// standing is how a peer stands beside us, with a tuning. Without rounds it was not compared.
type standing struct {
	Peer   name    `json:"peer"`
	Rounds int     `json:"rounds"`
	Time   float64 `json:"time"`
	Ratio  float64 `json:"ratio"` // the median over rounds of the peer's time over ours
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// result compares the samples of a row at a size.
func (s *samples) result(r *row, bytes int) result {
	b, us := benchmark{r.call, bytes}, ourName(r.registered)
	out := result{Row: r.name, Group: r.group, Bytes: bytes}
	out.Default = s.standing(b, us, s.fastest(b, r.peers, isDefault))
	out.Best = s.standing(b, us, s.fastest(b, r.peers, isAny))
	if out.Best.Rounds == 0 {
		out.Missing = s.missingReason(b, us, r.peers)
		return out
	}
	ourTimes, bounds := s.times(b, us), s.lowerBounds(b)
	out.Ours, out.Limit, out.Over = medianOf(ourTimes), medianOf(bounds), median(ratios(ourTimes, bounds))
	for i := range r.peers {
		for _, counts := range []func(name) bool{isDefault, isAny} {
			one := s.standing(b, us, s.fastest(b, r.peers[i:i+1], counts))
			if one.Rounds > 0 && !slices.Contains(out.Peers, one) {
				out.Peers = append(out.Peers, one)
			}
		}
	}
	return out
}

// standing compares a peer's times with ours.
func (s *samples) standing(b benchmark, us, who name) standing {
	theirs := s.times(b, who)
	all := ratios(theirs, s.times(b, us))
	if len(all) == 0 {
		return standing{}
	}
	return standing{Peer: who, Rounds: len(all), Time: medianOf(theirs), Ratio: median(all), Least: slices.Min(all),
		Most: slices.Max(all)}
}

// fastest returns the peer and tuning with the shortest typical time, of those that count and that ran in the most
// rounds. A tuning that was dropped after one round has too few times to be compared.
func (s *samples) fastest(b benchmark, peers []*peer, counts func(name) bool) (who name) {
	most, shortest := 0, 0.0
	for _, p := range peers {
		for _, n := range s.tried(b, p.name) {
			times := s.times(b, n)
			rounds, t := len(times), medianOf(times)
			if counts(n) && (rounds > most || rounds == most && rounds > 0 && t < shortest) {
				who, most, shortest = n, rounds, t
			}
		}
	}
	return who
}

// missingReason returns why a benchmark has no ratio: a failure, or that nothing was measured.
func (s *samples) missingReason(b benchmark, us name, peers []*peer) string {
	if reason := s.failure(b, us); reason != "" {
		return us.String() + ": " + reason
	}
	for _, p := range peers {
		for _, n := range s.tried(b, p.name) {
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
