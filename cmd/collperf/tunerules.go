package main

import (
	"cmp"
	"slices"

	"github.com/collgen/collgen/selection"
)

// tolerance is how much slower than the fastest a candidate may be to count as fast as it, relatively: as much as the times
// themselves are spread, within these bounds.
const tolerance, mostTolerance = 0.05, 0.15

// stretch is sizes in a row for which one candidate is chosen.
type stretch struct {
	candidate
	last int // index of the largest size
}

// rulesOf are the rules of all primitives. Those of a number of ranks hold up to the next one that was measured.
func rulesOf(all []measured, factor int) map[string][]selection.Rule {
	rules := make(map[string][]selection.Rule)
	for i := range all {
		m := &all[i]
		next := cmp.Or(m.nextRanks(all), m.ranks+1)
		rules[m.primitive] = append(rules[m.primitive], m.rules(next-1, factor)...)
	}
	return rules
}

// nextRanks is the next larger number of ranks that m's operation was measured with; 0: there is none.
func (m *measured) nextRanks(all []measured) (next int) {
	for i := range all {
		o := &all[i]
		if o.name == m.name && o.transport == m.transport && o.ranks > m.ranks && (next == 0 || o.ranks < next) {
			next = o.ranks
		}
	}
	return next
}

// rules are as few as possible for m's number of ranks and those up to most. Where one does not serve these all, they are for
// m's number alone.
func (m *measured) rules(most, factor int) (rules []selection.Rule) {
	chosen := m.stretches()
	serves := func(s stretch) bool { return legal(m.primitive, s.rule(m.transport, m.ranks, most)) }
	if !allOf(chosen, serves) {
		most = m.ranks
	}
	for i, s := range chosen {
		r := s.rule(m.transport, m.ranks, most)
		if i < len(chosen)-1 {
			r.MaxBytes = m.sizes[s.last].bytes * factor / 2 // for factor 2 the size itself: the next one is another's
		}
		rules = append(rules, r)
	}
	return rules
}

func allOf[E any](all []E, is func(E) bool) bool {
	return !slices.ContainsFunc(all, func(e E) bool { return !is(e) })
}

// stretches are as few as possible: each candidate is kept for as long as it is as fast as the fastest. The one that can
// be kept longest is chosen; of several, the one that takes the least time.
func (m *measured) stretches() (chosen []stretch) {
	for at := 0; at < len(m.sizes); at = chosen[len(chosen)-1].last + 1 {
		next := slices.MaxFunc(m.candidates, func(a, b candidate) int {
			endA, endB := m.kept(a, at), m.kept(b, at)
			if endA != endB || endA < at {
				return endA - endB
			}
			return cmp.Compare(m.excess(b, at, endA), m.excess(a, at, endA))
		})
		chosen = append(chosen, stretch{next, m.kept(next, at)})
	}
	return chosen
}

// kept is up to which size, from one on, a candidate is as fast as the fastest; the one before it if it is not at all.
func (m *measured) kept(c candidate, from int) int {
	for at := from; at < len(m.sizes); at++ {
		s := &m.sizes[at]
		fastest, spread := s.fastest()
		if s.time(c) > fastest*(1+min(max(tolerance, spread), mostTolerance)) {
			return at - 1
		}
	}
	return len(m.sizes) - 1
}

// excess is how much longer than the fastest a candidate takes at some sizes, relatively and all together.
func (m *measured) excess(c candidate, from, to int) (sum float64) {
	for i := from; i <= to; i++ {
		fastest, _ := m.sizes[i].fastest()
		sum += m.sizes[i].time(c)/fastest - 1
	}
	return sum
}

func (s *measuredSize) time(c candidate) float64 {
	return s.times[c.variant(s.count, s.bytes)].median()
}

// fastest is the shortest median of all variants, and how far the middle half of its times is spread, relatively.
func (s *measuredSize) fastest() (median, spread float64) {
	for _, t := range s.times {
		if m := t.median(); median == 0 || m < median {
			median, spread = m, (t.quantile(.75)-t.quantile(.25))/m
		}
	}
	return median, spread
}
