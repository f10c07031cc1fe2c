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
func (s *session) missingFrom(round int) (missing []*comparison) {
	for _, c := range s.comparisons {
		if s.samples.rounds(c.benchmark) <= round {
			missing = append(missing, c)
		}
	}
	return missing
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
	var all []sample
	for i := range competitors {
		one := &competitors[(i+round)%len(competitors)]
		s.showProgress(c.benchmark, one.name, s.remaining(c, round)-i)
		taken := sample{benchmark: c.benchmark, name: one.name, Round: round}
		t, err := s.measure(ctx, c.benchmark, one)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		taken.Microseconds = t
		if err != nil {
			taken.Failed = err.Error()
		}
		all = append(all, taken)
	}
	for i := range all {
		if err := s.add(record{Sample: &all[i]}); err != nil {
			return err
		}
	}
	return nil
}

// showProgress shows which measurement begins, when so many remain, and about how long these will take.
func (s *session) showProgress(b benchmark, who name, remaining int) {
	var estimate string
	if s.measured > 0 {
		each := time.Since(s.start) / time.Duration(s.measured)
		estimate = fmt.Sprintf(", about %v left", (each * time.Duration(remaining)).Round(time.Second))
	}
	s.measured++
	s.progress.Stage("%d of %d%s: %s, %d ranks %s, %s: %v", s.measured, s.measured+remaining-1, estimate, b.Collective,
		b.Ranks,
		b.Transport, sizeText(b.Bytes), who)
}

// remaining estimates how many measurements are left, from a round of a comparison on.
func (s *session) remaining(from *comparison, round int) (n int) {
	for r := round; r < s.rounds; r++ {
		for _, c := range s.comparisons {
			if s.samples.rounds(c.benchmark) <= r && (r > round || c == from || s.samples.rounds(c.benchmark) <= round) {
				n += len(s.competitors(c))
			}
		}
	}
	return n
}

// competitors returns who runs in the next round of a comparison: we, and each peer with all tunings that fit or, after
// the first round, with its best ones.
func (s *session) competitors(c *comparison) (all []competitor) {
	for _, registered := range c.ours {
		all = append(all, competitor{name: ourName(registered), registered: registered})
	}
	for _, who := range c.peers {
		p := peerNamed(who)
		best := s.bestTunings(c.benchmark, who)
		for i := range p.tunings {
			t := &p.tunings[i]
			n := name{Who: who, Tuning: t.name}
			if t.fits(c.benchmark) && (s.samples.rounds(c.benchmark) == 0 || slices.Contains(best, n)) {
				all = append(all, competitor{name: n, peer: p, tuning: t})
			}
		}
	}
	return all
}

// neededPeers returns the peers that take part in any comparison.
func (s *session) neededPeers() (needed []*peer) {
	for _, p := range peers {
		if slices.ContainsFunc(s.comparisons, func(c *comparison) bool { return slices.Contains(c.peers, p.name) }) {
			needed = append(needed, p)
		}
	}
	return needed
}
