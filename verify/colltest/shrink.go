package colltest

import (
	"context"
	"iter"
	"slices"
	"time"
)

// shrink finds a smaller case that fails, and again one, until nothing about it can be left out, or Shrinking has
// passed. It is a search of its own because a case is a few numbers with an order of importance, and because each try
// can take seconds, where ranks hang or have to be started again.
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
