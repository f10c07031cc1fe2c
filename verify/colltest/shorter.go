package colltest

import (
	"iter"
	"slices"
)

// fewerElements yields cases with shorter blocks, with the same values and then with others.
func (s *Suite) fewerElements(c Case, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		size := len(c.members(&step))
		for fewer := range s.shorter(step, size) {
			if !yield(fewer) {
				return false
			}
		}
		for fewer := range s.shorter(step, size) {
			for seed := range uint64(mostSeeds) {
				if fewer.Values.Seed = seed; !yield(fewer) {
					return false
				}
			}
		}
		return true
	})
}

// mostSeeds is the number of other seeds that are tried for each length.
const mostSeeds = 120

// shorter returns steps with fewer elements in blocks, shortest first. If counts are uneven, it shortens all blocks of
// one count together.
func (s *Suite) shorter(step Step, size int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if step.Counts == nil {
			for _, n := range s.can.counts(size) {
				fewer := step
				if fewer.Count = n; n >= step.Count {
					break
				}
				if !yield(fewer) {
					return
				}
			}
			for less := step.Count / 4; less > 0; less /= 2 {
				fewer := step
				if fewer.Count = step.Count - less; fewer.Count >= s.can.LeastCount && !yield(fewer) {
					return
				}
			}
			return
		}
		for _, n := range distinct(step.Counts) {
			for _, less := range []int{s.can.LeastCount, s.can.LeastCount + 1, n / 2, n - 1} {
				fewer := step
				if fewer.Counts = replace(step.Counts, n, less); less >= s.can.LeastCount && less < n && !yield(fewer) {
					return
				}
			}
		}
	}
}

// distinct returns the different counts in ascending order.
func distinct(counts [][]int) []int {
	all := slices.Concat(counts...)
	slices.Sort(all)
	return slices.Compact(all)
}

// replace returns counts with each n replaced.
func replace(counts [][]int, n, by int) (replaced [][]int) {
	for _, row := range counts {
		row = slices.Clone(row)
		for b := range row {
			if row[b] == n {
				row[b] = by
			}
		}
		replaced = append(replaced, row)
	}
	return replaced
}
