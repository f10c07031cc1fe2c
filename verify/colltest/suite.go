package colltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collgen/collgen/spec"
)

// Suite tests one implementation, and counts what it has tested. It is not safe for concurrent use.
type Suite struct {
	// Patience is the time limit for the calls of one case. A case that hangs is shrunk with a tenth of it.
	Patience time.Duration
	// Shrinking is the time limit for shrinking a case.
	Shrinking time.Duration
	// Cases is the number of random cases of each primitive, which are drawn from Seed.
	Cases int
	Seed  uint64
	// Progress, unless nil, is called with the counts of a primitive after each of its cases.
	Progress func(primitive string, soFar Counts)
	// Tested has the counts of what was tested, by primitive.
	Tested map[string]Counts

	impl   Implementation
	can    Capabilities
	worlds map[int]World // running ones, by size
}

// Counts say how much was tested.
type Counts struct {
	Cases, Calls int // a call of all ranks counts once
	Elements     int // results of reductions that were compared
	Undetermined int // of these, those without a verdict, because some trees over- or underflow
}

// NewSuite returns a suite for impl. Close ends the worlds that it starts.
func NewSuite(impl Implementation) *Suite {
	s := &Suite{Patience: 10 * time.Second, Shrinking: 15 * time.Second, Cases: 100, Seed: 1, Tested: map[string]Counts{},
		impl: impl, can: impl.Capabilities(), worlds: map[int]World{}}
	if len(s.can.Sizes) == 0 {
		s.can.Sizes = []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	return s
}

// Check tests one primitive: first a call for every size, type, op and form, and then random cases, as many as the
// field Cases says. It stops at the first failure, and returns it shrunk; it returns nil if there is none, or ctx ends.
// If there is no size, type or op to call the primitive with, it makes no calls, and Untested says so.
func (s *Suite) Check(ctx context.Context, of Support) *Failure {
	f := s.first(ctx, of)
	if f == nil || ctx.Err() != nil {
		return nil
	}
	return s.shrink(ctx, f, of)
}

// first returns the first failure.
func (s *Suite) first(ctx context.Context, of Support) *Failure {
	for c := range s.cases(of) {
		if ctx.Err() != nil {
			return nil
		}
		if f := s.mustTry(ctx, c, of.Primitive, s.Patience); f != nil {
			return f
		}
		if s.Progress != nil {
			s.Progress(of.Primitive.Name, s.Tested[of.Primitive.Name])
		}
	}
	return nil
}

// cases returns the cases that Check tries.
func (s *Suite) cases(of Support) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		if s.can.nothing(of.Primitive) != "" {
			return
		}
		for c := range s.can.sweep(of) {
			if !yield(c) {
				return
			}
		}
		random := rand.New(rand.NewPCG(s.Seed, 0))
		for range s.Cases {
			if !yield(drawCase(random, &s.can, of)) {
				return
			}
		}
	}
}

// mustTry tries a case that this package has made. An error becomes a failure.
func (s *Suite) mustTry(ctx context.Context, c Case, p spec.Primitive, patience time.Duration) *Failure {
	f, err := s.try(ctx, c, p, patience)
	if err != nil {
		return &Failure{c, []Problem{{Rank: -1, Text: "this is not a case: " + err.Error()}}}
	}
	return f
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
	i := slices.IndexFunc(s.can.Primitives, func(x Support) bool { return x.Primitive.Name == c.Steps[0].Primitive })
	if i < 0 {
		return nil, fmt.Errorf("%s does not have %s", s.can.Name, c.Steps[0].Primitive)
	}
	return s.try(ctx, c, s.can.Primitives[i].Primitive, s.Patience)
}

// try makes the calls of c, which all have to be of p.
func (s *Suite) try(ctx context.Context, c Case, p spec.Primitive, patience time.Duration) (*Failure, error) {
	var trials []*trial
	for i := range c.Steps {
		if c.Steps[i].Primitive != p.Name {
			return nil, fmt.Errorf("calls of %s and %s in one case", p.Name, c.Steps[i].Primitive)
		}
		t, err := newTrial(&c.Steps[i], p, c.Size)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	counts := s.Tested[p.Name]
	problems := s.perform(ctx, c.Size, trials, &counts, patience)
	counts.Cases++
	counts.Calls += len(trials)
	s.Tested[p.Name] = counts
	if len(problems) == 0 {
		return nil, nil
	}
	return &Failure{c, problems}, nil
}

// perform runs trials in a running world, or starts one. It closes a world after a failure, which may have left its
// ranks out of step.
func (s *Suite) perform(ctx context.Context, size int, trials []*trial, counts *Counts,
	patience time.Duration) []Problem {
	w, err := s.world(ctx, size)
	if err != nil {
		return []Problem{{Rank: -1, Text: fmt.Sprintf("starting %d ranks: %v", size, err)}}
	}
	p := newPerformance(trials)
	problems := p.in(ctx, w, patience)
	if len(problems) == 0 {
		problems = p.results(counts)
	}
	if len(problems) > 0 {
		_ = s.end(size) // an error after a failure adds nothing
	}
	return problems
}

func (s *Suite) world(ctx context.Context, size int) (World, error) {
	if w := s.worlds[size]; w != nil {
		return w, nil
	}
	ctx, cancel := context.WithTimeout(ctx, starting)
	defer cancel()
	w, err := s.impl.Start(ctx, size)
	if err == nil {
		s.worlds[size] = w
	}
	return w, err
}

// starting and ending are the time limits for starting and closing a world.
const starting, ending = time.Minute, 10 * time.Second

// end closes the world of a size, and gives up after a while.
func (s *Suite) end(size int) error {
	w := s.worlds[size]
	delete(s.worlds, size)
	closed := make(chan error, 1)
	go func() { closed <- w.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(ending):
		return fmt.Errorf("closing the world of %d ranks has not ended after %v", size, ending)
	}
}

// Close ends all worlds.
func (s *Suite) Close() error {
	var errs []error
	for size := range s.worlds {
		errs = append(errs, s.end(size))
	}
	return errors.Join(errs...)
}

// Capabilities returns the capabilities of the implementation.
func (s *Suite) Capabilities() Capabilities { return s.can }

// Untested returns in words what was not tested: what the implementation does not support, what cannot be called on its
// sizes, and results that no specification determines.
func (s *Suite) Untested() []string {
	missing := s.can.missing(Everything(""))
	for _, x := range s.can.Primitives {
		if why := s.can.nothing(x.Primitive); why != "" {
			missing = append(missing, why)
		}
	}
	undetermined, elements := 0, 0
	for _, c := range s.Tested {
		undetermined += c.Undetermined
		elements += c.Elements
	}
	if undetermined > 0 {
		missing = append(missing, fmt.Sprintf("%d of %d reduced elements, which over- or underflow in some trees",
			undetermined, elements))
	}
	return missing
}
