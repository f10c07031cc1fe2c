package tune

import (
	"cmp"
	"slices"

	"github.com/collgen/collgen/selection"
)

// A candidate counts as fast as the fastest if it is slower by no more than the spread of the times, but at least
// tolerance and at most maxTolerance.
const tolerance, maxTolerance = 0.05, 0.15

// interval is consecutive sizes for which one candidate is chosen.
type interval struct {
	candidate
	last int // index of the largest size
}

// rulesOf returns the rules of all primitives. Rules for a number of ranks apply up to the next number that was
// measured.
func rulesOf(all []measured) map[string][]selection.Rule {
	rules := make(map[string][]selection.Rule)
	for i := range all {
		m := &all[i]
		next := cmp.Or(m.nextRanks(all), m.ranks+1)
		rules[m.Primitive] = append(rules[m.Primitive], m.rules(next-1)...)
	}
	return rules
}

// nextRanks returns the next larger number of ranks with which m's operation was measured; 0: there is none.
func (m *measured) nextRanks(all []measured) (next int) {
	for i := range all {
		o := &all[i]
		if o.Name == m.Name && o.transport == m.transport && o.ranks > m.ranks && (next == 0 || o.ranks < next) {
			next = o.ranks
		}
	}
	return next
}

// rules returns as few rules as possible for m's number of ranks and those up to most. If one of them does not serve
// all these numbers, the rules are for m's number only.
func (m *measured) rules(most int) (rules []selection.Rule) {
	chosen := m.intervals()
	serves := func(s interval) bool { return legal(m.Primitive, s.rule(m.transport, m.ranks, most)) }
	if !allOf(chosen, serves) {
		most = m.ranks
	}
	for i, s := range chosen {
		r := s.rule(m.transport, m.ranks, most)
		if i < len(chosen)-1 {
			// If sizes double, that is the last one itself; if they are farther apart, half of the next one.
			r.MaxBytes = max(m.sizes[s.last].bytes, m.sizes[s.last+1].bytes/2)
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

// intervals returns as few intervals as possible. Each one has the candidate that stays as fast as the fastest for the
// most sizes; of several, the one that takes the least time.
func (m *measured) intervals() (chosen []interval) {
	for at := 0; at < len(m.sizes); at = chosen[len(chosen)-1].last + 1 {
		next := slices.MaxFunc(m.candidates, func(a, b candidate) int {
			endA, endB := m.kept(a, at), m.kept(b, at)
			if endA != endB || endA < at {
				return endA - endB
			}
			return cmp.Compare(m.excess(b, at, endA), m.excess(a, at, endA))
		})
		chosen = append(chosen, interval{next, m.kept(next, at)})
	}
	return chosen
}

// kept returns the last size, starting from one, up to which a candidate is as fast as the fastest; from-1 if it is not
// even there.
func (m *measured) kept(c candidate, from int) int {
	for at := from; at < len(m.sizes); at++ {
		s := &m.sizes[at]
		fastest := s.fastest()
		if s.time(c) > fastest.median*(1+min(max(tolerance, fastest.spread), maxTolerance)) {
			return at - 1
		}
	}
	return len(m.sizes) - 1
}

// excess returns the sum over some sizes of how much longer than the fastest a candidate takes, relatively.
func (m *measured) excess(c candidate, from, to int) (sum float64) {
	for i := from; i <= to; i++ {
		sum += m.sizes[i].time(c)/m.sizes[i].fastest().median - 1
	}
	return sum
}
