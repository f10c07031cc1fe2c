package colltest

import (
	"context"
	"iter"
	"slices"
	"time"
)

// shrink finds a smaller case that fails, and again one, until nothing about it can be left out, or Shrinking has passed. It
// is a search of its own because a case is a few numbers with an order of importance, and because each try can take seconds,
// where ranks hang or have to be started again.
func (s *Suite) shrink(ctx context.Context, f *Failure, of Support) *Failure {
	until := time.Now().Add(s.Shrinking)
	patience := s.Patience
	if slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.Hang }) {
		patience /= 10
	}
	for smaller := f; smaller != nil; {
		f, smaller = smaller, nil
		for c := range s.smaller(f.Case, of) {
			if time.Now().After(until) || ctx.Err() != nil {
				return f
			}
			if smaller = s.mustTry(ctx, c, of.Primitive, patience); smaller != nil && ctx.Err() == nil {
				break
			}
		}
	}
	return f
}

// smaller are cases that are simpler than c in one respect, the most important one first.
func (s *Suite) smaller(c Case, of Support) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for _, respect := range []func(Case, Support, func(Case) bool) bool{
			s.fewerSteps, s.fewerRanks, s.plainer, s.fewerElements, s.simplerType, s.simplerValues,
		} {
			if !respect(c, of, yield) {
				return
			}
		}
	}
}

// fewerSteps leaves calls out.
func (s *Suite) fewerSteps(c Case, _ Support, yield func(Case) bool) bool {
	for i := range c.Steps {
		if len(c.Steps) > 1 && !yield(Case{c.Size, slices.Delete(slices.Clone(c.Steps), i, i+1)}) {
			return false
		}
	}
	return true
}

// fewerRanks leaves ranks out: the last ones, and roots that are among these become rank 0 or 1.
func (s *Suite) fewerRanks(c Case, of Support, yield func(Case) bool) bool {
	for _, size := range s.can.sizesFor(of.Primitive) {
		if size >= c.Size {
			break
		}
		roots := calls(of.Primitive, size)
		for _, root := range []int{0, len(roots) - 1} {
			smaller := Case{Size: size}
			for _, step := range c.Steps {
				if step.Root >= size || step.Peer >= size {
					step.Root, step.Peer = roots[root].Root, roots[root].Peer
				}
				step.Late = min(step.Late, size-1)
				step.truncate(size)
				smaller.Steps = append(smaller.Steps, step)
			}
			if !yield(smaller) {
				return false
			}
		}
	}
	return true
}

// truncate leaves out the counts of ranks, and of their blocks, that there are no more.
func (s *Step) truncate(size int) {
	if s.Counts == nil {
		return
	}
	counts := slices.Clone(s.Counts[:size])
	for rank, row := range counts {
		counts[rank] = row[:min(len(row), size)]
	}
	s.Counts = counts
}

// eachStep yields c with one step after the other changed by every one of the changes.
func eachStep(c Case, yield func(Case) bool, changes func(Step, func(Step) bool) bool) bool {
	for i, step := range c.Steps {
		with := func(changed Step) bool {
			steps := slices.Clone(c.Steps)
			steps[i] = changed
			return yield(Case{c.Size, steps})
		}
		if !changes(step, with) {
			return false
		}
	}
	return true
}

// plainer is without delay, out of place, aligned, with even counts, and with another root.
func (s *Suite) plainer(c Case, of Support, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		if plain := step; step.Delay > 0 {
			if plain.Delay, plain.Late = 0, 0; !yield(plain) {
				return false
			}
		}
		if plain := step; step.InPlace && of.Apart {
			if plain.InPlace = false; !yield(plain) {
				return false
			}
		}
		if plain := step; step.Lead > 0 {
			if plain.Lead = 0; !yield(plain) {
				return false
			}
		}
		if plain := step; step.Counts != nil {
			if plain.Count, plain.Counts = slices.Max(distinct(step.Counts)), nil; !yield(plain) {
				return false
			}
		}
		for _, call := range calls(of.Primitive, c.Size) {
			plain := step
			if plain.Root, plain.Peer = call.Root, call.Peer; plain.Root == step.Root && plain.Peer == step.Peer {
				break
			}
			if !yield(plain) {
				return false
			}
		}
		return true
	})
}

// fewerElements has shorter blocks, of the same values and of some others.
func (s *Suite) fewerElements(c Case, _ Support, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		for fewer := range s.shorter(step, c.Size) {
			if !yield(fewer) {
				return false
			}
		}
		for fewer := range s.shorter(step, c.Size) {
			for seed := range uint64(mostSeeds) {
				if fewer.Values.Seed = seed; !yield(fewer) {
					return false
				}
			}
		}
		return true
	})
}

// mostSeeds is how many other values are tried for each length.
const mostSeeds = 24

// shorter are the step with less elements in its blocks, few first; where counts are uneven, in all blocks of one count.
func (s *Suite) shorter(step Step, size int) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if step.Counts == nil {
			for _, n := range counts(size, s.can.LeastCount) {
				fewer := step
				if fewer.Count = n; n >= step.Count || !yield(fewer) {
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

// distinct are the counts that there are, ascending.
func distinct(counts [][]int) []int {
	all := slices.Concat(counts...)
	slices.Sort(all)
	return slices.Compact(all)
}

// replace has each count that is n be another one.
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

// simplerType has a type and an op that stand earlier in the lists.
func (s *Suite) simplerType(c Case, of Support, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		for _, kind := range s.can.reductions(of.Primitive) {
			if kind == (reduction{step.Type, step.Op}) {
				break
			}
			simpler := step
			simpler.Type, simpler.Op = kind.Type, kind.Op
			simpler.Values = Values{Kind: step.Values.Kind, Seed: step.Values.Seed}
			if simpler.tame(&s.can); !yield(simpler) {
				return false
			}
		}
		return true
	})
}

// simplerValues are of a simpler kind, or from a smaller seed.
func (s *Suite) simplerValues(c Case, _ Support, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		for _, kind := range kinds {
			for seed := range uint64(mostSeeds) {
				simpler := step
				simpler.Values.Kind, simpler.Values.Seed = kind, seed
				if simpler.Values == step.Values {
					return true
				}
				if !yield(simpler) {
					return false
				}
			}
		}
		return true
	})
}
