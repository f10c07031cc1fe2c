package colltest

import (
	"iter"
	"slices"

	"github.com/collgen/collgen/spec"
)

// fewerSteps yields c without some of its calls, many first, and with calls that are made less often.
func (s *Suite) fewerSteps(c Case, yield func(Case) bool) bool {
	for n := len(c.Steps) / 2; n > 0; n /= 2 {
		for i := 0; i < len(c.Steps); i += n {
			fewer := c.with(slices.Delete(slices.Clone(c.Steps), i, min(i+n, len(c.Steps))))
			if !yield(fewer) {
				return false
			}
			for order := uint64(1); c.Order != 0 && order <= mostOrders; order++ { // a number means another order of fewer calls
				if fewer.Order = order; !yield(fewer) {
					return false
				}
			}
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

// mostOrders is the number of other orders that are tried.
const mostOrders = 5

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
	smaller.Size, smaller.Order = size, c.Order
	for _, split := range c.Comms {
		smaller.Comms = append(smaller.Comms, split.fewer(size))
	}
	for _, step := range c.Steps {
		members := len(smaller.members(&step))
		if len(s.roots(&step, members)) == 0 || step.Wrong != "" && !canBe(step.Wrong, s.primitive(&step), members) {
			return smaller, false
		}
		smaller.Steps = append(smaller.Steps, s.among(members, step, lastRoot))
	}
	return smaller, true
}

// among returns the step among so many ranks.
func (s *Suite) among(members int, step Step, lastRoot bool) Step {
	if roots := s.roots(&step, members); step.Root >= members || step.Peer >= members {
		root := roots[0]
		if lastRoot {
			root = roots[len(roots)-1]
		}
		step.Root, step.Peer = root.Root, root.Peer
		step.even() // the counts are those of another root
	}
	step.Late = min(step.Late, members-1)
	step.truncate(members)
	return step
}

// even gives all blocks the longest count.
func (s *Step) even() {
	for _, n := range slices.Concat(s.Counts...) {
		s.Count = max(s.Count, n)
	}
	s.Counts = nil
}

// truncate removes the counts of ranks and blocks beyond size.
func (s *Step) truncate(size int) {
	if s.Counts == nil || size >= len(s.Counts) {
		return
	}
	counts := slices.Clone(s.Counts[:size])
	for rank, row := range counts {
		counts[rank] = row[:min(len(row), size)]
	}
	s.Counts = counts
}

// plainerCase yields c with the order of its steps, without communicators that no step uses, and with all steps on the
// communicator of all ranks.
func (s *Suite) plainerCase(c Case, yield func(Case) bool) bool {
	if plain := c; c.Order != 0 {
		if plain.Order = 0; !yield(plain) {
			return false
		}
	}
	for comm, split := range c.Comms {
		if plain, ok := c.withoutComm(comm + 1); ok && !yield(plain) {
			return false
		}
		for plain := range split.plainer() {
			changed := c
			changed.Comms = slices.Clone(c.Comms)
			if changed.Comms[comm] = plain; !yield(changed) {
				return false
			}
		}
	}
	return eachStep(c, yield, func(step Step, yield func(Step) bool) bool {
		if step.Comm == 0 {
			return true
		}
		step.even()
		step.Comm, step.Color = 0, 0
		return yield(step)
	})
}

// plainer yields s made before all calls, and with the ranks in their order.
func (s Split) plainer() iter.Seq[Split] {
	return func(yield func(Split) bool) {
		if plain := s; s.Between {
			if plain.Between = false; !yield(plain) {
				return
			}
		}
		if plain := s; slices.ContainsFunc(s.Keys, func(key int) bool { return key != 0 }) {
			plain.Keys = make([]int, len(s.Keys))
			yield(plain)
		}
	}
}

// withoutComm returns c without a communicator, if no step uses it.
func (c Case) withoutComm(comm int) (Case, bool) {
	steps := slices.Clone(c.Steps)
	for i := range steps {
		switch at := &steps[i].Comm; {
		case *at == comm:
			return c, false
		case *at > comm:
			*at--
		}
	}
	c.Comms = slices.Delete(slices.Clone(c.Comms), comm-1, comm)
	return c.with(steps), true
}

// eachStep yields c with each step changed in each way that changes yields.
func eachStep(c Case, yield func(Case) bool, changes func(Step, func(Step) bool) bool) bool {
	for i, step := range c.Steps {
		with := func(changed Step) bool {
			steps := slices.Clone(c.Steps)
			steps[i] = changed
			return yield(c.with(steps))
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
			{step.Mode == Batched && s.can.Started, func(s *Step) { s.Mode = Started }},
			{step.Mode == Persistent && step.Repeat <= 1 && s.can.Started, func(s *Step) { s.Mode = Started }},
			{step.Mode != Blocking, func(s *Step) { s.Mode = Blocking }},
			{step.Tag > 0, func(s *Step) { s.Tag = 0 }},
			{step.Displaced != 0, func(s *Step) { s.Displaced = 0 }},
			{step.InPlace && of.Apart, func(s *Step) { s.InPlace = false }},
			{step.Lead > 0, func(s *Step) { s.Lead = 0 }},
			{step.Guard > 0, func(s *Step) { s.Guard = 0 }},
			{step.Counts != nil, (*Step).even},
		} {
			if !change.can {
				continue
			}
			plain := step
			if change.to(&plain); !yield(plain) {
				return false
			}
		}
		return earlierRoots(step, s.roots(&step, len(c.members(&step))), yield)
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
