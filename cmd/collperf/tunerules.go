package main

import (
	"cmp"
	"slices"

	"github.com/collgen/collgen/selection"
)

// tolerance is how much slower than the fastest a candidate may be to count as fast as it, relatively: as much as the
// times themselves are spread, within these bounds.
const tolerance, mostTolerance = 0.05, 0.15

// stretch is sizes in a row for which one candidate is chosen.
type stretch struct {
	candidate
	last int // index of the largest size
}

// rulesOf returns the rules of all primitives. Those of a number of ranks hold up to the next one that was measured.
func rulesOf(all []measured) map[string][]selection.Rule {
	rules := make(map[string][]selection.Rule)
	for i := range all {
		m := &all[i]
		next := cmp.Or(m.nextRanks(all), m.ranks+1)
		rules[m.primitive] = append(rules[m.primitive], m.rules(next-1)...)
	}
	return rules
}

// nextRanks returns the next larger number of ranks that m's operation was measured with; 0: there is none.
func (m *measured) nextRanks(all []measured) (next int) {
	for i := range all {
		o := &all[i]
		if o.name == m.name && o.transport == m.transport && o.ranks > m.ranks && (next == 0 || o.ranks < next) {
			next = o.ranks
		}
	}
	return next
}

// rules are as few as possible for m's number of ranks and those up to most. Where one does not serve these all, they
// are for m's number alone.
func (m *measured) rules(most int) (rules []selection.Rule) {
	chosen := m.stretches()
	serves := func(s stretch) bool { return legal(m.primitive, s.rule(m.transport, m.ranks, most)) }
	if !allOf(chosen, serves) {
		most = m.ranks
	}
	for i, s := range chosen {
		r := s.rule(m.transport, m.ranks, most)
		if i < len(chosen)-1 {
			r.MaxBytes = max(m.sizes[s.last].bytes, m.sizes[s.last+1].bytes/2) // if sizes double, the last one itself: the next is another's
		}
		if m.perHost < m.ranks {
			r.MaxPerHost = m.perHost
		}
		rules = append(rules, r)
	}
	return rules
}

func allOf[E any](all []E, is func(E) bool) bool {
	return !slices.ContainsFunc(all, func(e E) bool { return !is(e) })
}

// stretches are as few as possible: each candidate is kept for as long as it is as fast as the fastest. The one that
// can be kept longest is chosen; of several, the one that takes the least time.
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
		fastest := s.fastest()
		if s.time(c) > fastest.median*(1+min(max(tolerance, fastest.spread), mostTolerance)) {
			return at - 1
		}
	}
	return len(m.sizes) - 1
}

// excess returns how much longer than the fastest a candidate takes at some sizes, relatively and all together.
func (m *measured) excess(c candidate, from, to int) (sum float64) {
	for i := from; i <= to; i++ {
		sum += m.sizes[i].time(c)/m.sizes[i].fastest().median - 1
	}
	return sum
}
