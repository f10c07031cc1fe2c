package colltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/spec"
)

// Suite tests one implementation, and counts what it has tested. It is not safe for concurrent use.
type Suite struct {
	// Patience is the time limit for the calls of one case. A case that takes longer hangs if it also does with ten
	// times as much: in a world of its own, or else when it was first made, where it goes on meanwhile.
	Patience time.Duration
	// Starting is the time limit for starting a world.
	Starting time.Duration
	// Shrinking is the time limit for shrinking a case.
	Shrinking time.Duration
	// Failures is how many different failures of a primitive are looked for. The rest of its cases are left out then.
	Failures int
	// Cases is the number of random cases of each primitive and size, which are drawn from Seed.
	Cases int
	Seed  uint64
	// Large adds blocks of up to 16 MiB.
	Large bool
	// Progress, unless nil, is called with the counts of a primitive after each of its cases.
	Progress func(primitive string, soFar Counts)
	// Tried, unless nil, is called after each case of a check, with the check's name in the field Tested, and the
	// failure as it was first seen, or nil. It may be one that [Suite.Check] does not return: it was seen before, or a
	// case took long once. The time since the last call includes that for making the failure smaller.
	Tried func(name string, c Case, f *Failure)
	// Tested has the counts of what was tested, by primitive, or by [Mixed] and [Soak].
	Tested map[string]Counts

	impl    Implementation
	can     Capabilities
	few     int // sizes above it get few cases
	worlds  map[int]*running
	slowest time.Duration // of the cases that passed

	untested []string // for reasons that are no capabilities
}

// Counts say how much was tested.
type Counts struct {
	Cases, Calls int // a call of all ranks counts once
	Elements     int // results of reductions that were compared
	Undetermined int // of these, those without a verdict, because some trees over- or underflow, or nothing is promised
	Unconfirmed  int // cases that took too long once, and not when they were tried again
	Cannot       int // calls that the implementation says it cannot make
	LeftOut      int // cases that were not tried, after many had failed
}

func (c *Counts) add(more Counts) {
	c.Cases += more.Cases
	c.Calls += more.Calls
	c.Elements += more.Elements
	c.Undetermined += more.Undetermined
	c.Cannot += more.Cannot
}

// Made returns how many calls were made, without those that the implementation says it cannot make.
func (c Counts) Made() int { return c.Calls - c.Cannot }

// NewSuite returns a suite for impl. Close ends the worlds that it starts. If impl names no sizes, it is tested on 1 to
// 8 ranks, and with few cases on some larger sizes.
func NewSuite(impl Implementation) *Suite {
	s := &Suite{Patience: 10 * time.Second, Starting: time.Minute, Shrinking: 15 * time.Second, Failures: 5, Cases: 15,
		Seed: 1, Tested: map[string]Counts{}, impl: impl, can: impl.Capabilities(), few: mostRanks,
		worlds: map[int]*running{}}
	if len(s.can.Sizes) == 0 {
		s.can.Sizes, s.few = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 33}, 8
	}
	return s
}

// mostRanks is a limit so that a handwritten Case cannot take all memory.
const mostRanks = 1024

// Try makes the calls of one case. It returns an error if this is no case of the implementation's primitives.
func (s *Suite) Try(ctx context.Context, c Case) (*Failure, error) {
	if len(c.Steps) == 0 {
		return nil, errors.New("a case without calls")
	}
	if c.Size < 1 || c.Size > mostRanks {
		return nil, fmt.Errorf("a case on %d ranks", c.Size)
	}
	name := c.Steps[0].Primitive
	counts := s.Tested[name]
	f, err := s.try(ctx, c, s.Patience, &counts)
	if err == nil {
		s.Tested[name] = counts
	}
	return f, err
}

// Repeat makes the calls of one case up to five times, each time in a world of its own, until it fails: a failure that
// depends on timing does not come each time. It returns an error if this is no case of the implementation's primitives.
func (s *Suite) Repeat(ctx context.Context, c Case) (f *Failure, err error) {
	for range tries {
		if f, err = s.Try(ctx, c); f != nil || err != nil || ctx.Err() != nil {
			break
		}
		if err := s.end(c.Size); err != nil {
			return nil, err
		}
	}
	return f, err
}

// trials returns the calls of a case with their data and expected results. It returns an error if this is no case of
// the implementation's primitives.
func (s *Suite) trials(c Case) (trials []*trial, err error) {
	if err := c.checkComms(); err != nil {
		return nil, err
	}
	if len(c.Comms) > 0 && !s.can.Split {
		return nil, fmt.Errorf("%s does not have communicators of some ranks", s.can.Name)
	}
	var steps [][]*trial
	for i := range c.Steps {
		of, err := s.supported(&c, i)
		if err != nil {
			return nil, err
		}
		var all []*trial
		members := c.members(&c.Steps[i])
		for step := range c.Steps[i].each() {
			t, err := newTrial(&step, of.Primitive, len(members))
			if err != nil {
				return nil, err
			}
			all = append(all, t)
			if t.members, t.of, t.first = members, i, all[0]; c.Steps[i].Repeat > 1 {
				t.time = len(all)
			}
		}
		all[0].last = all[len(all)-1]
		steps = append(steps, all)
	}
	return inTurn(steps, c.Order != 0 && c.Order%2 == 0), nil
}

// inTurn returns the trials of all steps, one after the other. Persistent calls that are next to each other are made
// once each, then twice, and so on: all of them are prepared before any is closed. If they are staggered, each of them
// is prepared a round after the one before, and ahead of the calls of that round: others are closed by then, or not.
func inTurn(steps [][]*trial, staggered bool) (all []*trial) {
	for len(steps) > 0 {
		n := slices.IndexFunc(steps, func(step []*trial) bool { return step[0].step.Mode != Persistent })
		if n < 0 {
			n = len(steps)
		}
		all = append(all, rounds(steps[:n], staggered)...)
		if steps = steps[n:]; len(steps) > 0 && n == 0 {
			all, steps = append(all, steps[0]...), steps[1:]
		}
	}
	return all
}

// rounds returns the trials of persistent steps, one of each step in a round.
func rounds(steps [][]*trial, staggered bool) (all []*trial) {
	for round, more := 0, len(steps) > 0; more; round++ {
		more = false
		for i := range steps {
			step, time := steps[i], round
			if staggered {
				i = len(steps) - 1 - i
				step, time = steps[i], round-i
			}
			if time >= 0 && time < len(step) {
				all = append(all, step[time])
			}
			more = more || time+1 < len(step)
		}
	}
	return all
}

// try makes the calls of c, and adds them to counts.
func (s *Suite) try(ctx context.Context, c Case, patience time.Duration, counts *Counts) (*Failure, error) {
	d := s.draw(c)
	if d.err != nil {
		return nil, d.err
	}
	return s.perform(ctx, d, patience, patience).verdict(counts), nil
}

// supported returns how the primitive of a step is supported. It returns an error if the step cannot be made in its
// case.
func (s *Suite) supported(c *Case, i int) (Support, error) {
	step := &c.Steps[i]
	of, ok := s.support(step.Primitive)
	switch {
	case !ok:
		return of, fmt.Errorf("%s does not have %s", s.can.Name, step.Primitive)
	case hasBuffers(of.Primitive) && step.Type.Valid() && !slices.Contains(s.can.Types, step.Type):
		return of, fmt.Errorf("%s does not have the type %v", s.can.Name, step.Type)
	case hasOp(of.Primitive) && step.Op.Takes(step.Type) && !slices.Contains(s.can.Ops, step.Op):
		return of, fmt.Errorf("%s does not have the op %v", s.can.Name, step.Op)
	case step.Repeat < 0 || step.Repeat > mostRepeat:
		return of, fmt.Errorf("a call %d times", step.Repeat)
	case !slices.Contains(append(s.can.modes(), Blocking), step.Mode):
		return of, fmt.Errorf("%s does not have calls that are %s", s.can.Name, step.Mode)
	case step.Tag != 0 && (!s.can.Tags || step.Tag < 0 || step.Primitive != spec.Send.Name):
		return of, fmt.Errorf("%s of %s does not have tag %d", step.Primitive, s.can.Name, step.Tag)
	case len(c.members(step)) == 0:
		return of, fmt.Errorf("there is no communicator %d with color %d", step.Comm, step.Color)
	case step.Wrong != "" && (!slices.Contains(s.can.Refuses, step.Wrong) || step.Repeat > 1 ||
		i+1 < len(c.Steps) && (!s.can.AfterWrong || step.Wrong != WrongRoot)):
		return of, fmt.Errorf("%s does not have a call with wrong %s here", s.can.Name, step.Wrong)
	}
	return of, nil
}

// mustTry tries a case that this package has made. An error becomes a failure.
func (s *Suite) mustTry(ctx context.Context, c Case, patience time.Duration, counts *Counts) *Failure {
	return s.perform(ctx, s.draw(c), patience, patience).verdict(counts)
}

// support returns how a primitive is supported, if it is.
func (s *Suite) support(primitive string) (Support, bool) {
	i := slices.IndexFunc(s.can.Primitives, func(x Support) bool { return x.Primitive.Name == primitive })
	if i < 0 {
		return Support{}, false
	}
	return s.can.Primitives[i], true
}

// primitive returns the specification of a step of a case that was tried.
func (s *Suite) primitive(step *Step) spec.Primitive {
	of, _ := s.support(step.Primitive)
	return of.Primitive
}

// Capabilities returns the capabilities of the implementation.
func (s *Suite) Capabilities() Capabilities { return s.can }

// Untested returns in words what was not tested: what the implementation does not support, what cannot be called on its
// sizes, results that no specification determines, and cases without a verdict.
func (s *Suite) Untested() []string {
	missing := append(s.can.missing(All("")), s.untested...)
	for _, x := range s.can.Primitives {
		if why := s.can.nothing(x); why != "" && len(x.forms()) > 0 { // that no form is left is said already
			missing = append(missing, why)
		}
	}
	var all Counts
	for name, c := range s.Tested {
		all.Undetermined += c.Undetermined
		all.Elements += c.Elements
		all.Unconfirmed += c.Unconfirmed
		if c.Cannot > 0 {
			missing = append(missing, fmt.Sprintf("%d calls of %s that it cannot make", c.Cannot, name))
		}
		if c.LeftOut > 0 {
			missing = append(missing, fmt.Sprintf("%d cases of %s, after others had failed", c.LeftOut, name))
		}
	}
	if all.Undetermined > 0 {
		missing = append(missing, fmt.Sprintf("%d of %d reduced elements, of which no value is promised", all.Undetermined,
			all.Elements))
	}
	if all.Unconfirmed > 0 {
		missing = append(missing, fmt.Sprintf("%d cases took longer than %v once, and ended when they were tried again",
			all.Unconfirmed, s.Patience))
	}
	return missing
}
