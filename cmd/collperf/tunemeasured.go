package main

import (
	"cmp"
	"math"
	"slices"
)

// measured is how long the variants of an operation's calls took, among some ranks.
type measured struct {
	operation
	transport      string
	ranks, perHost int
	candidates     []candidate
	sizes          []measuredSize // in ascending order
}

// measuredSize is that of blocks of one size.
type measuredSize struct {
	count, bytes int // of a block
	took         map[variant]taken
}

// taken is a time over all rounds: its median in microseconds, and how far it is spread, relatively: within rounds, or
// among them.
type taken struct{ median, spread float64 }

// measuredOf returns samples by operation, transport and ranks; those with fewer ranks on a host come first.
func measuredOf(samples []sample) (all []measured) {
	type key struct {
		collective, transport string
		ranks, perHost        int
	}
	groups := map[key][]sample{}
	for _, s := range samples {
		k := key{s.Collective, s.Transport, s.Ranks, s.PerHost}
		groups[k] = append(groups[k], s)
	}
	for k, group := range groups {
		o, _ := operationOf(k.collective)
		m := measured{operation: o, transport: k.transport, ranks: k.ranks, perHost: k.perHost, sizes: sizesOf(group)}
		m.candidates = candidatesOf(o.primitive, k.transport, k.ranks)
		all = append(all, m)
	}
	slices.SortFunc(all, func(x, y measured) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.transport, y.transport), cmp.Compare(x.ranks, y.ranks), cmp.Compare(x.perHost, y.perHost))
	})
	return all
}

// sizesOf returns samples, all of one operation among the same ranks, by the size of blocks.
func sizesOf(samples []sample) (sizes []measuredSize) {
	rounds := map[int]map[variant][]sample{}
	for _, s := range samples {
		if rounds[s.Bytes] == nil {
			rounds[s.Bytes] = map[variant][]sample{}
			sizes = append(sizes, measuredSize{s.Count, s.Bytes, map[variant]taken{}})
		}
		v := variant{s.Algorithm, s.Depth}
		rounds[s.Bytes][v] = append(rounds[s.Bytes][v], s)
	}
	slices.SortFunc(sizes, func(x, y measuredSize) int { return cmp.Compare(x.bytes, y.bytes) })
	for i := range sizes {
		for v, of := range rounds[sizes[i].bytes] {
			sizes[i].took[v] = over(of)
		}
	}
	return sizes
}

// over returns what a variant took in several rounds.
func over(rounds []sample) taken {
	t, within := make(times, len(rounds)), make(times, len(rounds))
	for i, s := range rounds {
		t[i], within[i] = s.Microseconds, s.Spread
	}
	slices.Sort(t)
	slices.Sort(within)
	return taken{t.median(), max(within.median(), (t.quantile(.75)-t.quantile(.25))/t.median())}
}

// time returns what a candidate takes; where it was not measured, it is never the fastest.
func (s *measuredSize) time(c candidate) float64 {
	if t, ok := s.took[c.variant(s.count, s.bytes)]; ok {
		return t.median
	}
	return math.Inf(1)
}

// fastest returns the shortest median of all variants, and how far its times are spread.
func (s *measuredSize) fastest() (least taken) {
	least.median = math.Inf(1)
	for _, t := range s.took {
		if t.median < least.median || t.median == least.median && t.spread < least.spread {
			least = t
		}
	}
	return least
}
