package colltest

import (
	"context"
	"iter"
	"slices"
	"time"
)

// tries is how often a case that has failed is made again in worlds of its own. A hang takes as long as it is waited
// for, and is tried less often.
const tries, hangTries = 5, 2

// examine returns f as small as it can be made, with how often it fails again. Where it does not fail alone, it is
// joined with cases that its world had made before, or made again after all of them. It returns nil for a case that
// took too long and does so no more.
func (s *Suite) examine(ctx context.Context, f *Failure) *Failure {
	if f.hangs() {
		return s.examineHang(ctx, f)
	}
	if s.again(ctx, f); f.Failed > 0 {
		return s.shrink(ctx, f)
	}
	if g := f.withLongerDelays(); g != nil {
		if s.again(ctx, g); g.Failed > 0 {
			return s.shrink(ctx, g)
		}
	}
	if joint := s.joint(ctx, f); joint != nil {
		return s.shrink(ctx, joint)
	}
	if len(f.before) > 0 && s.replay(ctx, f) {
		f.After = len(f.before)
	}
	return f
}

// longerDelays is how much later a rank comes in a case that fails no more: on a busy machine, others are as late.
const longerDelays = 10

// withLongerDelays returns the failure of the same case whose ranks come later, or nil if none comes late.
func (f *Failure) withLongerDelays() *Failure {
	g, isLate := *f, false
	g.Case.Steps = slices.Clone(f.Case.Steps)
	for i := range g.Case.Steps {
		g.Case.Steps[i].Delay *= longerDelays
		isLate = isLate || g.Case.Steps[i].Delay > 0
	}
	if !isLate {
		return nil
	}
	return &g
}

// examineHang does so for a case that took too long. To confirm a hang takes long, and so the smaller case comes first.
// One that does not come again, such as that of a wake-up that is rarely lost, is a failure if it still lasts.
func (s *Suite) examineHang(ctx context.Context, f *Failure) *Failure {
	if g := s.shrink(ctx, f); g != f {
		return g
	}
	if s.again(ctx, f); f.Failed > 0 {
		return f
	}
	if joint := s.joint(ctx, f); joint != nil {
		return s.shrink(ctx, joint)
	}
	if len(f.before) > 0 && s.replay(ctx, f) {
		f.After = len(f.before)
		return f
	}
	if f.stuck == nil {
		return nil
	}
	problems := f.stuck.wait()
	if len(problems) == 0 {
		return nil
	}
	f.Problems = problems
	return f
}

// confirming is how much longer than Patience a case may take that seems to hang.
const confirming = 10

// again makes the case of f again, in a new world each time, and counts how often it fails. It ends early when there is
// no time left.
func (s *Suite) again(ctx context.Context, f *Failure) {
	n, patience, until := tries, s.Patience, time.Now().Add(s.Shrinking)
	if f.hangs() {
		n, patience = hangTries, confirming*s.Patience
	}
	f.Tries, f.Failed = 0, 0
	for f.Tries < n && ctx.Err() == nil && (f.Tries == 0 || time.Now().Before(until)) {
		_ = s.end(f.Case.Size)
		again := s.mustTry(ctx, f.Case, patience, new(Counts))
		if ctx.Err() != nil {
			break // it was interrupted, which is no failure
		}
		if f.Tries++; again != nil {
			if f.Failed++; f.hangs() && again.hangs() { // it has hung for longer
				f.Problems = again.Problems
			}
		}
	}
	_ = s.end(f.Case.Size)
}

// replay makes the cases before f and that of f in a new world, and reports whether this fails.
func (s *Suite) replay(ctx context.Context, f *Failure) bool {
	_ = s.end(f.Case.Size)
	defer func() { _ = s.end(f.Case.Size) }()
	for _, c := range append(slices.Clone(f.before), f.Case) {
		if g := s.mustTry(ctx, c, confirming*s.Patience, new(Counts)); g != nil {
			return ctx.Err() == nil && g.kind() == f.kind()
		}
	}
	return false
}

// shrink returns a smaller failure that fails again, or f. A world that goes on after a wrong result saves the time to
// start another one. But what fails there may not fail alone, and then each case is tried in a world of its own.
func (s *Suite) shrink(ctx context.Context, f *Failure) *Failure {
	for _, alone := range []bool{false, true} {
		g := s.smallest(ctx, f, alone)
		if g == f {
			break
		}
		if s.again(ctx, g); g.Failed > 0 {
			return g
		}
	}
	return f
}

// smallest replaces the case of f by smaller ones that fail, until there is none or the time of Shrinking is over. A
// general shrinker would not do: a case is a few numbers with an order of importance, and each try can take seconds if
// ranks hang or have to be restarted.
func (s *Suite) smallest(ctx context.Context, f *Failure, alone bool) *Failure {
	until := time.Now().Add(s.Shrinking)
	for next := f; next != nil; {
		f, next = next, nil
		for c := range s.smaller(f.Case) {
			if time.Now().After(until) || ctx.Err() != nil {
				break
			}
			if alone {
				_ = s.end(c.Size)
			}
			if next = s.fails(ctx, c, f); next != nil {
				break
			}
		}
	}
	return f
}

// fails tries a case that is smaller than that of f. If f hangs, it waits less, and first makes a call in a new world,
// in which the first call takes longer.
func (s *Suite) fails(ctx context.Context, c Case, f *Failure) *Failure {
	patience := s.quick(f)
	if f.hangs() && s.worlds[c.Size] == nil {
		first := s.short(c.Size, 0, s.can.Primitives)
		first.Steps = first.Steps[:min(1, len(first.Steps))]
		for i := range first.Steps {
			first.Steps[i].Repeat = 0
		}
		if s.mustTry(ctx, first, s.Patience, new(Counts)) != nil {
			patience = s.Patience
		}
	}
	g, err := s.try(ctx, c, patience, new(Counts))
	if err != nil || ctx.Err() != nil {
		return nil
	}
	return g
}

// quick returns a time limit for a case like that of f: if f hangs, much more than cases have taken so far.
func (s *Suite) quick(f *Failure) time.Duration {
	if !f.hangs() {
		return s.Patience
	}
	return min(s.Patience, max(300*time.Millisecond, 20*s.slowest))
}

// smaller returns cases that are simpler than c in one respect, the most important respect first.
func (s *Suite) smaller(c Case) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for _, respect := range []func(Case, func(Case) bool) bool{
			s.fewerSteps, s.fewerRanks, s.plainerCase, s.plainer, s.fewerElements, s.simplerType, s.simplerValues,
		} {
			if !respect(c, yield) {
				return
			}
		}
	}
}
