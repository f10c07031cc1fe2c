package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/internal/program"
)

// session is all that is to be measured.
type session struct {
	*runner
	*samples
	comparisons []*comparison
	rounds      int
	until       time.Time // when to start no further round; zero: never
	progress    *program.Progress
	start       time.Time
	measured    int // in this run
}

// run builds the programs and measures.
func (s *session) run(ctx context.Context) error {
	s.progress.Stage("building")
	if err := s.build(ctx, s.neededPeers()); err != nil {
		return err
	}
	s.start = time.Now()
	return s.measureAll(ctx)
}

// measureAll measures round after round, and in each round one comparison after another, until all comparisons have all
// rounds. So the times of one comparison are taken close together, and its rounds far apart. Each round measures the
// limits again, because the machine may have become faster or slower.
func (s *session) measureAll(ctx context.Context) error {
	for round := range s.rounds {
		missing := s.missingFrom(round)
		if len(missing) > 0 && !s.expired() {
			if err := s.addLimits(ctx, round); err != nil {
				return err
			}
		}
		for _, c := range missing {
			if s.expired() {
				return nil
			}
			if err := s.measureRound(ctx, c, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// missingFrom returns the comparisons that do not have that round yet from an earlier run.
func (s *session) missingFrom(round int) []*comparison {
	return slices.DeleteFunc(slices.Clone(s.comparisons), func(c *comparison) bool { return s.roundsOf(c) > round })
}

// roundsOf returns how many rounds there are of all sizes of a comparison.
func (s *session) roundsOf(c *comparison) int {
	n := s.samples.rounds(c.at(c.sizes[0]))
	for _, bytes := range c.sizes {
		n = min(n, s.samples.rounds(c.at(bytes)))
	}
	return n
}

func (s *session) expired() bool { return !s.until.IsZero() && time.Now().After(s.until) }

// addLimits measures the limits of the machine in a round.
func (s *session) addLimits(ctx context.Context, round int) error {
	s.progress.Stage("limits of the machine")
	l, err := s.measureLimits(ctx)
	if err != nil {
		s.missing["the limits of the machine"] = err
	}
	return s.add(record{Limits: l, Round: round})
}

// measureRound runs all competitors of a comparison, in each round another one first. A round is added only when it is
// complete, so that no ratio mixes two rounds.
func (s *session) measureRound(ctx context.Context, c *comparison, round int) error {
	competitors := s.competitors(c)
	remaining := s.remaining(c, round)
	var all []sample
	for i := range competitors {
		one := &competitors[(i+round)%len(competitors)]
		s.showProgress(c, one.name, remaining-i)
		times, err := s.measure(ctx, c.call, one)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, bytes := range one.sizes {
			taken := sample{benchmark: c.at(bytes), name: one.name, Round: round}
			if err != nil {
				taken.Failed = err.Error()
			} else {
				taken.Microseconds = times[j]
			}
			all = append(all, taken)
		}
	}
	for i := range all {
		if err := s.add(record{Sample: &all[i]}); err != nil {
			return err
		}
	}
	return nil
}

// showProgress shows which run of a program begins, when so many remain, and about how long these will take.
func (s *session) showProgress(c *comparison, who name, remaining int) {
	each := usualRun
	if s.measured > 0 {
		each = time.Since(s.start) / time.Duration(s.measured)
	}
	s.measured++
	s.progress.Stage("%d of %d, about %v left: %s, %d ranks %s: %v", s.measured, s.measured+remaining-1,
		(each * time.Duration(remaining)).Round(time.Second), c.Collective, c.Ranks, c.Transport, who)
}

// Before anything is measured, a run is taken to last usualRun, and usualRuns programs to go on after the first round.
const (
	usualRun  = 1500 * time.Millisecond
	usualRuns = 5
)

// remaining estimates how many runs are left, from a round of a comparison on; nil: from the first one.
func (s *session) remaining(from *comparison, round int) (n int) {
	begun := from == nil
	for r := round; r < s.rounds; r++ {
		for _, c := range s.comparisons {
			begun = begun || c == from
			runs := len(s.competitors(c))
			if r > 0 && s.roundsOf(c) == 0 {
				runs = min(runs, usualRuns)
			}
			if begun && s.roundsOf(c) <= r {
				n += runs
			}
		}
	}
	return n
}

// estimate says what is to be measured, and about how long that takes.
func (s *session) estimate() string {
	runs := s.remaining(nil, 0)
	return fmt.Sprintf("%d runs of programs in %d rounds, about %v", runs, s.rounds,
		(usualRun * time.Duration(runs)).Round(time.Minute))
}

// competitors returns who runs in the next round of a comparison: we, and each peer with all tunings that fit or, after
// the first round, with its best ones.
func (s *session) competitors(c *comparison) (all []competitor) {
	for _, registered := range c.ours() {
		us := competitor{name: ourName(registered), registered: registered, sizes: c.sizes}
		if c.Python {
			us.peer, us.tuning = &torchOurs, &torchOurs.tunings[0]
		}
		all = append(all, us)
	}
	best := s.best(c)
	for _, p := range c.peers() {
		for i := range p.tunings {
			one := competitor{name: name{p.name, p.tunings[i].name}, peer: p, tuning: &p.tunings[i]}
			one.sizes = s.sizesOf(c, &one, best)
			if one.sizes != nil && p.cannot(c.call, len(s.coreList())) == "" {
				all = append(all, one)
			}
		}
	}
	return all
}

// best returns what is worth another round of a comparison, by size; nil if none has been measured.
func (s *session) best(c *comparison) map[int][]name {
	if s.roundsOf(c) == 0 {
		return nil
	}
	best := make(map[int][]name)
	for _, bytes := range c.sizes {
		for _, r := range c.rows {
			best[bytes] = slices.Concat(best[bytes], s.worthwhile(c.at(bytes), r.peers, isAny),
				s.worthwhile(c.at(bytes), r.peers, isDefault))
		}
	}
	return best
}

// sizesOf returns the sizes that a competitor measures: from the first to the last that its tuning fits and for which
// it is among the best, if these are known.
func (s *session) sizesOf(c *comparison, one *competitor, best map[int][]name) []int {
	var some []int
	for _, bytes := range c.sizes {
		if one.tuning.fits(c.at(bytes)) && (best == nil || slices.Contains(best[bytes], one.name)) {
			some = append(some, bytes)
		}
	}
	return span(c.sizes, some)
}

// neededPeers returns the programs that take part in any comparison.
func (s *session) neededPeers() (needed []*peer) {
	for _, c := range s.comparisons {
		all := c.peers()
		if c.Python {
			all = append(all, &torchOurs)
		}
		for _, p := range all {
			if !slices.Contains(needed, p) {
				needed = append(needed, p)
			}
		}
	}
	return needed
}

// leftOut returns who does not take part in what, and why.
func (s *session) leftOut() (reasons []string) {
	for _, c := range s.comparisons {
		for _, p := range c.peers() {
			if reason := p.cannot(c.call, len(s.coreList())); reason != "" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return reasons
}
