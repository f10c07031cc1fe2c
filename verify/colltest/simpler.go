package colltest

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// fewerSteps yields c without one of its calls, and with calls that are made less often.
func (s *Suite) fewerSteps(c Case, yield func(Case) bool) bool {
	for i := range c.Steps {
		if len(c.Steps) > 1 && !yield(Case{c.Size, slices.Delete(slices.Clone(c.Steps), i, i+1)}) {
			return false
		}
	}
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		for _, repeat := range []int{0, step.Repeat / 2, step.Repeat - step.Repeat/4, step.Repeat - 1} {
			fewer := step
			if fewer.Repeat = repeat; repeat >= 0 && repeat != 1 && repeat < step.Repeat && !yield(fewer) {
				return false
			}
		}
		return true
	})
}

// fewerRanks yields c without its last ranks. Roots and peers among these become others.
func (s *Suite) fewerRanks(c Case, yield func(Case) bool) bool {
	for _, size := range s.can.Sizes {
		if size >= c.Size {
			break
		}
		for _, lastRoot := range []bool{false, true} {
			if smaller, ok := s.on(size, c, lastRoot); ok && !yield(smaller) {
				return false
			}
		}
	}
	return true
}

// on returns c on size ranks. Roots and peers that are no ranks there become those of the first or the last call that
// there is.
func (s *Suite) on(size int, c Case, lastRoot bool) (smaller Case, ok bool) {
	smaller.Size = size
	for _, step := range c.Steps {
		roots := s.roots(&step, size)
		if len(roots) == 0 {
			return smaller, false
		}
		if step.Root >= size || step.Peer >= size {
			root := roots[0]
			if lastRoot {
				root = roots[len(roots)-1]
			}
			step.Root, step.Peer = root.Root, root.Peer
		}
		step.Late = min(step.Late, size-1)
		step.truncate(size)
		smaller.Steps = append(smaller.Steps, step)
	}
	return smaller, true
}

// truncate removes the counts of ranks and blocks beyond size.
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

// eachStep yields c with each step changed in each way that changes yields.
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

// plainer yields c with a step that has no delay, is out of place, aligned, has even counts, or an earlier root.
func (s *Suite) plainer(c Case, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		of, _ := s.support(step.Primitive)
		for _, change := range []struct {
			can bool
			to  func(*Step)
		}{
			{step.Delay > 0, func(s *Step) { s.Delay, s.Late = 0, 0 }},
			{step.InPlace && of.Apart, func(s *Step) { s.InPlace = false }},
			{step.Lead > 0, func(s *Step) { s.Lead = 0 }},
			{step.Guard > 0, func(s *Step) { s.Guard = 0 }},
			{step.Counts != nil, func(s *Step) { s.Count, s.Counts = slices.Max(distinct(step.Counts)), nil }},
		} {
			if !change.can {
				continue
			}
			plain := step
			if change.to(&plain); !yield(plain) {
				return false
			}
		}
		return earlierRoots(step, s.roots(&step, c.Size), yield)
	})
}

// earlierRoots yields the step with each root and peer that come before its own.
func earlierRoots(step Step, roots []spec.Call, yield func(Step) bool) bool {
	for _, call := range roots {
		if call.Root == step.Root && call.Peer == step.Peer {
			break
		}
		plain := step
		if plain.Root, plain.Peer = call.Root, call.Peer; !yield(plain) {
			return false
		}
	}
	return true
}

// simplerType yields c with types and ops that come earlier in the lists.
func (s *Suite) simplerType(c Case, yield func(Case) bool) bool {
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		for _, kind := range s.can.reductions(s.primitive(&step)) {
			if kind == (reduction{step.Type, step.Op}) {
				break
			}
			simpler := step
			simpler.Type, simpler.Op = kind.Type, kind.Op
			simpler.Values = Values{Kind: step.Values.Kind, Seed: step.Values.Seed, Keep: step.Values.Keep}
			if simpler.tame(&s.can); !yield(simpler) {
				return false
			}
		}
		return true
	})
}

// simplerValues yields c with values of a simpler kind, or from a smaller seed.
func (s *Suite) simplerValues(c Case, yield func(Case) bool) bool {
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
