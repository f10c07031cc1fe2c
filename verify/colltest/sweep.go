package colltest

import (
	"iter"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// reduction is a type, and an op that takes it; 0: none.
type reduction struct {
	Type spec.Type
	Op   spec.Op
}

// reductions returns the types and ops of calls of p. A primitive that only moves data has all types.
func (c *Capabilities) reductions(p spec.Primitive) (all []reduction) {
	for _, t := range c.Types {
		if !hasOp(p) {
			all = append(all, reduction{Type: t})
			continue
		}
		for _, o := range c.Ops {
			if o.Takes(t) {
				all = append(all, reduction{t, o})
			}
		}
	}
	if !hasBuffers(p) {
		return all[:min(1, len(all))]
	}
	return all
}

// sweepCounts lists the block lengths of a sweep, which are used in turn.
var sweepCounts = []int{23, 64, 1, 130, 7, 0, 31}

// sweep returns a call for every size, type, op and form, with roots, counts and values in turn. A reduction that
// rounds gets two more calls.
func (c *Capabilities) sweep(of Support) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		p, i := of.Primitive, 0
		for _, size := range c.sizesFor(p) {
			roots := calls(p, size)
			for _, kind := range c.reductions(p) {
				for _, inPlace := range of.forms() {
					step := c.swept(p, kind, i)
					step.Root, step.Peer, step.InPlace = roots[i%len(roots)].Root, roots[i%len(roots)].Peer, inPlace
					if !yield(Case{size, []Step{step}}) || rounds(kind) &&
						(!yield(Case{size, []Step{step.rounding()}}) || !yield(Case{size, []Step{step.special()}})) {
						return
					}
					i++
				}
			}
		}
	}
}

func rounds(r reduction) bool { return r.Op != 0 && !r.Op.Exact(r.Type) }

// rounding returns s with values whose reduction has other bits in another tree.
func (s Step) rounding() Step {
	s.Values.Kind, s.Count = spectest.Ordinary, max(s.Count, sweepCounts[0])
	return s
}

// special returns s with values such as -0, many of which are the same on all ranks.
func (s Step) special() Step {
	s.Values.Kind, s.Count = spectest.Special, max(s.Count, sweepCounts[1])
	return s
}

// swept returns the i-th call of a sweep.
func (c *Capabilities) swept(p spec.Primitive, kind reduction, i int) Step {
	s := Step{Primitive: p.Name, Type: kind.Type, Op: kind.Op, Count: max(c.LeastCount, sweepCounts[i%len(sweepCounts)])}
	if hasBuffers(p) {
		s.Values = Values{Kind: []spectest.Kind{spectest.Mixed, spectest.Ordinary, spectest.Special}[i%3], Seed: uint64(i)}
	}
	s.tame(c)
	return s
}
