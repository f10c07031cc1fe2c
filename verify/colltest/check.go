package colltest

import (
	"context"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collgen/collgen/spec"
)

// Mixed and Soak are the names under which Tested has the cases of several primitives, and those of Soak.
const Mixed, Soak = "mixed", "soak"

// Check tests one primitive: on every size, the calls of a sweep, and then random cases, as many as the field Cases
// says. Of several primitives it tests how they follow each other without waiting. It goes on after a failure, and
// returns the first few that differ, shrunk. If there is no size, type or op to call a primitive with, it makes no
// calls, and Untested says so.
func (s *Suite) Check(ctx context.Context, of ...Support) []*Failure {
	name := Mixed
	if len(of) == 1 {
		name = of[0].Primitive.Name
	}
	return s.check(ctx, name, !s.Large, s.cases(of)) // the memory of large cases does not suffice for several
}

// Soak makes at least so many short calls of primitives in one world of each size.
func (s *Suite) Soak(ctx context.Context, calls int, of ...Support) []*Failure {
	return s.check(ctx, Soak, true, func(yield func(Case) bool) {
		for _, size := range s.can.Sizes {
			for i, made := 0, 0; made < calls; i++ {
				c := s.short(size, i, of)
				if len(c.Steps) == 0 {
					break
				}
				if made += len(c.Steps) * soakRepeat; !yield(c) {
					return
				}
			}
		}
	})
}

// soakRepeat is how often Soak makes each call of a case.
const soakRepeat = 200

// short returns the i-th case with a short call of each primitive, made often: with other types, roots and values than
// the one before.
func (s *Suite) short(size, i int, of []Support) Case {
	c := Case{Size: size}
	for _, x := range callable(&s.can, of, size) {
		w := swept{c: &s.can, of: x, size: size, roots: calls(x.Primitive, size), i: i}
		kinds, forms := s.can.reductions(x.Primitive), x.forms()
		step := w.step(kinds[i%len(kinds)], forms[i%len(forms)])
		step.Count, step.Repeat = s.can.within(1), soakRepeat
		step.Values.Seed *= soakRepeat
		c.Steps = append(c.Steps, step)
	}
	return c
}

// A check leaves the rest of a size out after so many cases that failed.
const mostFailed = 60

// mostTime returns the time after which a check leaves the rest out: that of three failures to make smaller, and of two
// hangs to confirm.
func (s *Suite) mostTime() time.Duration { return 3*s.Shrinking + 2*confirming*s.Patience }

// mostStretch limits how much longer cases may take after some have taken too long once.
const mostStretch = 8

// mostJudged is how many cases are judged while the next one is tried: some take much longer to judge than to try.
const mostJudged = 4

// check tries cases, and returns the failures that differ. If it may overlap them, the next cases are drawn, and the
// last ones are judged, while the ranks make the calls of one.
func (s *Suite) check(ctx context.Context, name string, overlap bool, cases iter.Seq[Case]) []*Failure {
	c := checking{Suite: s, name: name, counts: s.Tested[name], failed: map[int]int{}, stretch: 1}
	all := s.drawAll(cases)
	if overlap {
		all = ahead(all)
	}
	var open []*tried
	for d := range all {
		if ctx.Err() != nil {
			break
		}
		if c.isEnough(d.Size) {
			c.counts.LeftOut++
			continue
		}
		t, most := s.perform(ctx, d, c.stretch*s.Patience, confirming*s.Patience), 0
		if overlap && t.judged {
			most = mostJudged
		}
		for open = append(open, t); len(open) > most; open = open[1:] {
			c.conclude(ctx, open[0])
		}
	}
	for _, t := range open {
		c.conclude(ctx, t)
	}
	if c.counts != (Counts{}) {
		s.Tested[name] = c.counts
	}
	return c.found
}

// checking is what a check knows so far.
type checking struct {
	*Suite
	name    string
	found   []*Failure
	counts  Counts
	failed  map[int]int   // cases, by size
	took    time.Duration // what the time of failures was
	stretch time.Duration // how much longer than Patience cases may take
}

// isEnough reports whether the rest of a size is to be left out.
func (c *checking) isEnough(size int) bool {
	return c.failed[size] >= mostFailed || len(c.found) >= c.Failures || c.took > c.mostTime()
}

// conclude waits for the verdict on a case, and adds it to what is known. A case that was tried before enough was known
// is left out all the same.
func (c *checking) conclude(ctx context.Context, t *tried) {
	begin := time.Now()
	if t.release != nil {
		defer t.release()
	}
	if c.isEnough(t.Size) {
		t.verdict(new(Counts))
		c.counts.LeftOut++
		return
	}
	f := t.verdict(&c.counts)
	if f != nil && ctx.Err() == nil {
		slow := c.counts.Unconfirmed
		if c.found = c.add(ctx, c.found, f, &c.counts); c.counts.Unconfirmed > slow { // the machine is busy: no failure
			c.stretch = min(2*c.stretch, mostStretch)
		} else {
			c.failed[t.Size]++
			c.took += t.took + time.Since(begin)
		}
	}
	if c.Tried != nil && (ctx.Err() == nil || f == nil && t.judged) { // a case that has passed before the interrupt counts
		c.Tried(c.name, t.Case, f)
	}
	if c.Progress != nil {
		c.Progress(c.name, c.counts)
	}
}

// cases returns the cases of primitives, size by size. What is drawn for one size does not depend on the others.
func (s *Suite) cases(of []Support) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for _, size := range s.can.Sizes {
			here := callable(&s.can, of, size)
			if len(here) == 0 {
				continue
			}
			few, i := size > s.few, 0
			if len(of) == 1 {
				for c := range s.can.sweep(here[0], size, s.Large) {
					if i++; few && i%16 != 0 {
						continue
					}
					if !yield(c) {
						return
					}
				}
			}
			random, n := rand.New(rand.NewPCG(s.Seed, number64(size, of))), s.Cases
			if len(of) > 1 {
				n *= 4
			}
			if few {
				n = (n + 3) / 4
			}
			for range n {
				if !yield(drawCase(random, &s.can, here, size)) {
					return
				}
			}
			for _, draw := range []func(*rand.Rand, *Capabilities, []Support, int) []Case{
				messages, amongLargeTags, onComms, plans, open} {
				for _, c := range draw(random, &s.can, here, size) {
					if !yield(c) {
						return
					}
				}
			}
			for c := range s.can.wrong(here, size) { // last, because each ends its world
				if !yield(c) {
					return
				}
			}
		}
	}
}

// callable returns those of primitives of which there are calls on size ranks.
func callable(can *Capabilities, of []Support, size int) (here []Support) {
	for _, x := range of {
		if len(calls(x.Primitive, size)) > 0 && len(can.reductions(x.Primitive)) > 0 && len(x.forms()) > 0 {
			here = append(here, x)
		}
	}
	return here
}

// number64 returns a number that stands for a size and primitives.
func number64(size int, of []Support) uint64 {
	h := fnv.New64a()
	for _, x := range of {
		h.Write([]byte(x.Primitive.Name))
	}
	return h.Sum64() + uint64(size)
}

// add adds a failure, as small as it can be made, to those that were found, unless it is one of these. Whether a hang
// or an error is, it finds out first, because shrinking one takes long.
func (s *Suite) add(ctx context.Context, found []*Failure, f *Failure, counts *Counts) []*Failure {
	step := *f.At()
	isCostly := f.kind() == Hang || f.kind() == Erred
	if isCostly && s.known(ctx, found, f, &step) {
		return found
	}
	isOne := len(f.Case.Steps) == 1
	f = s.examine(ctx, f)
	if f != nil && !isOne { // it may be shown in another call than the one in which it was seen
		step = *f.At()
	}
	switch {
	case f == nil:
		counts.Unconfirmed++
		return found
	case !isCostly && s.known(ctx, found, f, &step), slices.ContainsFunc(found, f.hasCaseOf):
		return found
	}
	return append(found, f)
}

// hasCaseOf reports whether another failure is of the same case.
func (f *Failure) hasCaseOf(other *Failure) bool { return f.Case.JSON() == other.Case.JSON() }

// known reports whether f is one of the failures that were found: of the same kind and form, and with the type and op
// of f that one fails, too. It notes the type and op of the step in which f was seen.
func (s *Suite) known(ctx context.Context, found []*Failure, f *Failure, seen *Step) bool {
	step := f.At()
	for _, other := range found {
		at := other.Problems[0].Step
		same := other.Case
		if x := same.Steps[at]; other.kind() != f.kind() || x.Primitive != step.Primitive || x.InPlace != step.InPlace {
			continue
		}
		same.Steps = slices.Clone(same.Steps)
		was := same.Steps[at]
		for i := range same.Steps { // calls that are alike stay so
			if x := &same.Steps[i]; x.Primitive == was.Primitive && x.Type == was.Type && x.Op == was.Op {
				x.Type, x.Op = step.Type, step.Op
				x.tame(&s.can)
			}
		}
		if g, _ := s.try(ctx, same, s.quick(f), new(Counts)); g != nil && g.kind() == f.kind() {
			other.also(seen)
			return true
		}
	}
	return false
}

// also notes that the failure is one of the type and op of a step, too.
func (f *Failure) also(step *Step) {
	name := step.TypeOp()
	if i := slices.IndexFunc(f.Case.Steps, func(x Step) bool { return x.Type == step.Type && x.Op == step.Op }); i < 0 &&
		!slices.Contains(f.Also, name) {
		f.Also = append(f.Also, name)
	}
}

// kind returns the kind of the first problem.
func (f *Failure) kind() ProblemKind { return f.Problems[0].Kind }

func (f *Failure) hangs() bool {
	return slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.Kind == Hang })
}

// roots returns the calls of a step's primitive on size ranks.
func (s *Suite) roots(step *Step, size int) []spec.Call { return calls(s.primitive(step), size) }
