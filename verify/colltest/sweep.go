package colltest

import (
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// reduction is a type, and an op that takes it if there is one.
type reduction struct {
	Type spec.Type
	Op   spec.Op
}

// reductions are those that a call of p can have. What moves data alone has each type.
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

// sweepCounts are the elements of a block in a sweep, in turn.
var sweepCounts = []int{23, 64, 1, 130, 7, 0, 31}

// sweep makes a call for every size, type, op and form, with roots, counts and values in turn, until one fails.
func (s *Suite) sweep(of Support) *Failure {
	p, i := of.Primitive, 0
	for _, size := range s.can.sizesFor(p) {
		roots := calls(p, size)
		for _, kind := range s.can.reductions(p) {
			for _, inPlace := range of.forms() {
				call := roots[i%len(roots)]
				step := Step{Primitive: p.Name, Type: kind.Type, Op: kind.Op, Root: call.Root, Peer: call.Peer, InPlace: inPlace,
					Count: max(s.can.LeastCount, sweepCounts[i%len(sweepCounts)])}
				if hasBuffers(p) {
					step.Values = Values{Kind: []spectest.Kind{spectest.Mixed, spectest.Ordinary, spectest.Special}[i%3], Seed: uint64(i)}
				}
				step.tame(&s.can)
				if f := s.mustTry(Case{size, []Step{step}}, p, s.Patience); f != nil {
					return f
				}
				i++
			}
		}
	}
	return nil
}
