package main

import (
	"cmp"
	"maps"
	"slices"
)

// cell is what a row says at one size: how we compare with the best tuning of the best of its peers.
type cell struct {
	target
	Row     string  `json:"row"`
	Bytes   int     `json:"bytes"`
	Rounds  int     `json:"rounds"`
	Ours    float64 `json:"ours"` // microseconds, as all times
	Peer    float64 `json:"peer"`
	Best    name    `json:"best"`  // the peer, and its tuning
	Ratio   float64 `json:"ratio"` // the median over rounds of the peer's time over ours
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	Limit   float64 `json:"limit,omitempty"`   // the median over rounds of the shortest time that the machine could do this in; 0: not known
	Over    float64 `json:"over,omitempty"`    // the median over rounds of our time over the limit
	AtLimit float64 `json:"atLimit,omitempty"` // the median over rounds of the peer's time over the limit
	Missing string  `json:"missing,omitempty"` // why there is no ratio
}

func compare(a, b float64) int { return cmp.Compare(a, b) }

// median returns the middle of values, or the mean of the two in the middle; 0 if there are none.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return 0
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

func medianOf(byRound map[int]float64) float64 { return median(slices.Collect(maps.Values(byRound))) }

// ratios returns those of two kinds of times, in the rounds in which both were measured.
func ratios(over, under map[int]float64) (all []float64) {
	for round, t := range under {
		if o, ok := over[round]; ok {
			all = append(all, o/t)
		}
	}
	return all
}

// best returns the peer and tuning with the shortest typical time, among those that ran in the most rounds: what was
// given up after one round had not enough of them to be compared.
func (s *samples) best(c contest, peers []string) (who name) {
	most, shortest := 0, 0.0
	for _, p := range peers {
		for _, n := range s.tried(c, p) {
			times := s.times(c, n)
			rounds, t := len(times), medianOf(times)
			if rounds > most || rounds == most && rounds > 0 && t < shortest {
				who, most, shortest = n, rounds, t
			}
		}
	}
	return who
}

// cell returns that of a row at a size. A target for 8 bytes counts for 64, too.
func (s *samples) cell(r *row, bytes int) cell {
	c, who := r.contest(bytes), ourName(r.registered)
	out := cell{Row: r.name, Bytes: bytes, target: r.targets[bytes]}
	best := s.best(c, r.peers)
	us, them := s.times(c, who), s.times(c, best)
	all := ratios(them, us)
	if len(all) == 0 {
		out.Missing = s.why(c, who, r.peers)
		return out
	}
	out.Ours, out.Peer, out.Best = medianOf(us), medianOf(them), best
	out.Rounds, out.Ratio, out.Least, out.Most = len(all), median(all), slices.Min(all), slices.Max(all)
	least := s.leasts(c, r.registered)
	out.Limit, out.Over, out.AtLimit = medianOf(least), median(ratios(us, least)), median(ratios(them, least))
	return out
}

// why says why a contest has no ratio: what failed, or that nobody has tried.
func (s *samples) why(c contest, us name, peers []string) string {
	if reason := s.failed(c, us); reason != "" {
		return us.String() + ": " + reason
	}
	for _, p := range peers {
		for _, n := range s.tried(c, p) {
			if reason := s.failed(c, n); reason != "" {
				return n.String() + ": " + reason
			}
		}
	}
	return "not tried"
}

// verdict says which target a cell reaches: a floor that is below for us may lie beyond what the machine can do.
func (c *cell) verdict() string {
	switch {
	case c.Missing != "":
		return "not measured"
	case c.Floor == 0:
		return "-"
	case c.Stretch > 0 && c.Ratio >= c.Stretch:
		return "stretch"
	case c.Ratio >= c.Floor:
		return "floor"
	case c.most() > 0 && c.most() < c.Floor:
		return "beyond"
	}
	return "below"
}

// most returns the ratio that a program would reach which takes no longer than the machine's limits; 0: not known, as
// where somebody was faster than what was taken for a limit.
func (c *cell) most() float64 {
	if min(c.Over, c.AtLimit) < 1 {
		return 0
	}
	return c.AtLimit
}
