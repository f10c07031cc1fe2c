package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
)

// measured has the times of all variants of an operation, among some ranks.
type measured struct {
	bench.Operation
	transport      string
	ranks, perHost int
	candidates     []candidate
	sizes          []measuredSize // in ascending order
}

// measuredSize has the times for blocks of one size.
type measuredSize struct {
	count, bytes int // of a block
	took         map[variant]taken
}

// taken is a time over all rounds: its median in microseconds, and its relative spread, within rounds or between them.
type taken struct{ median, spread float64 }

// measuredOf groups samples by operation, transport and ranks, those with fewer ranks on a host first.
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
		o, _ := bench.OperationNamed(k.collective)
		m := measured{Operation: o, transport: k.transport, ranks: k.ranks, perHost: k.perHost, sizes: sizesOf(group)}
		m.candidates = candidatesOf(o.Primitive, k.transport, k.ranks)
		all = append(all, m)
	}
	slices.SortFunc(all, func(x, y measured) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.transport, y.transport), cmp.Compare(x.ranks, y.ranks),
			cmp.Compare(x.perHost, y.perHost))
	})
	return all
}

// sizesOf groups samples of one operation among the same ranks by the size of blocks.
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
			sizes[i].took[v] = takenOver(of)
		}
	}
	return sizes
}

// takenOver returns the time of a variant over several rounds.
func takenOver(rounds []sample) taken {
	t, within := make(bench.Times, len(rounds)), make(bench.Times, len(rounds))
	for i, s := range rounds {
		t[i], within[i] = s.Microseconds, s.Spread
	}
	slices.Sort(t)
	slices.Sort(within)
	return taken{t.Median(), max(within.Median(), (t.Quantile(.75)-t.Quantile(.25))/t.Median())}
}

// time returns the time of a candidate; +Inf if it was not measured, so that it is never the fastest.
func (s *measuredSize) time(c candidate) float64 {
	if t, ok := s.took[c.variant(s.count, s.bytes)]; ok {
		return t.median
	}
	return math.Inf(1)
}

// fastest returns the shortest median of all variants, with its spread.
func (s *measuredSize) fastest() (least taken) {
	least.median = math.Inf(1)
	for _, t := range s.took {
		if t.median < least.median || t.median == least.median && t.spread < least.spread {
			least = t
		}
	}
	return least
}
