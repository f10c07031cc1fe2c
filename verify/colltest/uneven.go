package colltest

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// uneven returns calls with uneven counts in each form, from each root: three that differ in the order of their counts
// alone, so that one that is taken for another has wrong results, one in which the last rank has no elements, and one
// of the first counts that is displaced. Some counts are a power of two in bytes. On many ranks there are none, since
// there are so many roots.
func (w *swept) uneven() (cases [][]Step) {
	if !w.of.Uneven || w.size > mostUneven {
		return nil
	}
	kinds, at := w.c.reductions(w.of.Primitive), w.size*len(w.of.forms())
	for _, inPlace := range w.of.forms() {
		for _, root := range w.roots {
			first := w.step(kinds[w.i%len(kinds)], inPlace)
			first.Root, first.Peer = root.Root, root.Peer
			first.Mode = append(w.c.modes(), Blocking)[w.i%(1+len(w.c.modes()))]
			x, err := spec.Expect(w.of.Primitive, first.call(w.size))
			if err != nil {
				return cases // the other calls report the error
			}
			lengths := w.lengthsOf(&first, x, at)
			at++
			first.setCounts(x, lengths)
			other := first
			slices.Reverse(lengths)
			other.setCounts(x, lengths)
			other.Values.Seed++
			last := first
			last.Values.Seed += 2
			steps := []Step{first, other, last}
			if idle := w.idle(&first, x, lengths); idle != nil {
				steps = []Step{first, *idle, other, last}
			}
			if w.of.Displaced {
				displaced := first
				displaced.Displaced = uint64(1 + w.i)
				steps = append(steps, displaced)
			}
			cases = append(cases, steps)
		}
	}
	return cases
}

// idle returns the call with the last rank having nothing to send or receive, nil if no rank has anything then.
func (w *swept) idle(s *Step, x *spec.Expectation, lengths []int) *Step {
	class, _ := alike(x, s.InPlace)
	last := len(x.Ranks) - 1
	lengths = slices.Clone(lengths)
	for block := range x.Ranks[last].In {
		lengths[class[spec.Term{Rank: last, Block: block}]] = w.c.within(0)
	}
	for _, content := range x.Ranks[last].Out {
		for _, term := range content.Terms {
			lengths[class[term]] = w.c.within(0)
		}
	}
	if slices.Max(lengths) == w.c.within(0) {
		return nil
	}
	idle := *s
	idle.setCounts(x, lengths)
	idle.Values.Seed += 3
	return &idle
}

// mostUneven is the largest size with uneven counts from each root.
const mostUneven = 5

// lengthsOf returns a length for each group of blocks that need the same one: of the first group a power of two in
// bytes, in turn.
func (w *swept) lengthsOf(s *Step, x *spec.Expectation, at int) (lengths []int) {
	_, classes := alike(x, s.InPlace)
	for i := range classes {
		n := (w.i + 5*i) % 9
		if i == 0 {
			n = max(1, 64<<(at%9)/s.Type.Bytes())
		}
		lengths = append(lengths, w.c.within(n))
	}
	return lengths
}

// setCounts gives each group of blocks that need the same length one of lengths.
func (s *Step) setCounts(x *spec.Expectation, lengths []int) {
	class, _ := alike(x, s.InPlace)
	s.Count, s.Counts = 0, make([][]int, len(x.Ranks))
	for rank := range x.Ranks {
		s.Counts[rank] = make([]int, len(x.Ranks[rank].In))
		for b := range s.Counts[rank] {
			s.Counts[rank][b] = lengths[class[spec.Term{Rank: rank, Block: b}]]
		}
	}
}
