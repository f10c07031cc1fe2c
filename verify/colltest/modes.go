package colltest

import (
	"slices"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// modes returns lists of calls in each mode but Blocking, with types and ops in turn, and blocking ones that are alike.
func (w *swept) modes() (cases [][]Step) {
	if w.size <= mostLate {
		cases = w.alike(Blocking)
	}
	for _, mode := range w.c.modes() {
		for _, inPlace := range w.of.forms() {
			for _, count := range []int{sweepCounts[0], 1025} {
				s := w.in(mode, inPlace)
				s.Count = w.c.within(count)
				switch {
				case mode == Batched: // calls that are alike may be made as one
					s.Repeat = 2
				case mode == Persistent && count < 1024:
					s.Repeat = manyStarts
				case mode == Persistent:
					s.Repeat = 2
				}
				cases = append(cases, []Step{s})
			}
		}
		cases = append(cases, w.alike(mode)...)
		cases = append(cases, w.twice(mode)...)
		cases = append(cases, w.fromEachRoot(mode)...)
	}
	return cases
}

// manyStarts is how often a short persistent call is made: more than a power of two.
const manyStarts = 9

// in returns the next call, in a mode.
func (w *swept) in(mode Mode, inPlace bool) Step {
	kinds := w.c.reductions(w.of.Primitive)
	s := w.step(kinds[w.i%len(kinds)], inPlace)
	s.Mode = mode
	return s
}

// alike returns lists of three calls, of which the second differs from the others in its root, op, type, length, form
// or displacements alone. So it gets a wrong result if it is taken for the first.
func (w *swept) alike(mode Mode) (cases [][]Step) {
	first := w.in(mode, w.of.forms()[0])
	first.Count = w.c.within(max(first.Count, 1))
	add := func(change func(s *Step)) {
		second, third := first, first
		second.Values.Seed++
		third.Values.Seed += 2
		change(&second)
		second.tame(w.c)
		cases = append(cases, []Step{first, second, third})
	}
	if len(w.roots) > 1 {
		i := slices.IndexFunc(w.roots, func(c spec.Call) bool { return c.Root == first.Root && c.Peer == first.Peer })
		other := w.roots[(i+1)%len(w.roots)]
		add(func(s *Step) { s.Root, s.Peer = other.Root, other.Peer })
	}
	kinds := w.c.reductions(w.of.Primitive)
	for _, is := range []func(kind reduction) bool{
		func(kind reduction) bool { return kind.Type == first.Type && kind.Op != first.Op },
		func(kind reduction) bool { return kind.Type.Bytes() == first.Type.Bytes() && kind.Type != first.Type },
	} {
		if i := slices.IndexFunc(kinds, is); i >= 0 {
			add(func(s *Step) { s.Type, s.Op = kinds[i].Type, kinds[i].Op })
		}
	}
	if hasBuffers(w.of.Primitive) {
		add(func(s *Step) { s.Count = w.c.within(s.Count + 1) })
	}
	if forms := w.of.forms(); len(forms) > 1 {
		add(func(s *Step) { s.InPlace = !s.InPlace })
		first.Count, first.InPlace = w.c.within(first.Count+2), forms[1]
		add(func(s *Step) { s.InPlace = !s.InPlace })
		first.InPlace = forms[0]
	}
	if w.of.Displaced {
		first.Displaced = uint64(1 + w.i)
		add(func(s *Step) { s.Displaced += 3 })
	}
	return cases
}

// twice returns a reduction that rounds, made again with other late ranks.
func (w *swept) twice(mode Mode) [][]Step {
	rounds := slices.DeleteFunc(w.c.reductions(w.of.Primitive), func(kind reduction) bool {
		return kind.Op == 0 || exact(kind.Op, kind.Type)
	})
	if len(rounds) == 0 || w.size == 1 {
		return nil
	}
	s := w.step(rounds[w.i%len(rounds)], w.of.forms()[0])
	s.Mode, s.Values.Kind, s.Count = mode, spectest.Ordinary, w.c.within(sweepCounts[0])
	return [][]Step{w.twins(s)}
}

// fromEachRoot returns reductions of which the order of operands matters, with each root.
func (w *swept) fromEachRoot(mode Mode) [][]Step {
	compose := reduction{spec.TypeUint64, Compose}
	if !slices.Contains(w.c.reductions(w.of.Primitive), compose) {
		return nil
	}
	var steps []Step
	for range w.roots {
		s := w.step(compose, w.of.forms()[0])
		s.Mode, s.Count = mode, w.c.within(1)
		steps = append(steps, s)
	}
	return [][]Step{steps}
}
