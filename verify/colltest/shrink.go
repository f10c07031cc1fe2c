package colltest

import (
	"context"
	"iter"
	"slices"
	"time"
)

// shrink returns a smaller failure. It replaces the case by smaller ones that fail, until there is none or the time of
// Shrinking is over. A general shrinker would not do: a case is a few numbers with an order of importance, and each try
// can take seconds if ranks hang or have to be restarted.
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

// smaller returns cases that are simpler than c in one respect, the most important respect first.
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
