package main

import (
	"context"
	"slices"
	"time"
)

// season is all that is to be measured.
type season struct {
	*workshop
	*samples
	fields   []*field
	rounds   int
	until    time.Time // when to begin nothing more; zero: never
	progress *progress
}

// play measures round after round, in each of them contest after contest, until all contests have all rounds: what a
// contest compares stands close together in time, and its rounds far apart. In each round the limits are measured anew:
// the machine may be faster or slower than it was.
func (s *season) play(ctx context.Context) error {
	for round := range s.rounds {
		fields := s.missingFrom(round)
		if len(fields) > 0 && !s.over() {
			if err := s.addLimits(ctx, round); err != nil {
				return err
			}
		}
		for _, f := range fields {
			if s.over() {
				return nil
			}
			if err := s.playRound(ctx, f, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// missingFrom returns the fields whose contests have no such round, kept from an earlier run.
func (s *season) missingFrom(round int) (fields []*field) {
	for _, f := range s.fields {
		if s.samples.rounds(f.contest) <= round {
			fields = append(fields, f)
		}
	}
	return fields
}

func (s *season) over() bool { return !s.until.IsZero() && time.Now().After(s.until) }

// playRound has all entrants of a contest run, another one first in each round. A round that was begun is kept only as
// a whole, so that no ratio is of two rounds.
func (s *season) playRound(ctx context.Context, f *field, round int) error {
	entrants := s.entrants(f)
	var all []sample
	for i := range entrants {
		e := &entrants[(i+round)%len(entrants)]
		s.progress.next(f.contest, e.name, s.left(f, round)-i)
		one := sample{contest: f.contest, name: e.name, Round: round}
		t, err := s.measure(ctx, f.contest, e)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		one.Microseconds = t
		if err != nil {
			one.Failed = err.Error()
		}
		all = append(all, one)
	}
	for i := range all {
		if err := s.add(record{Sample: &all[i]}); err != nil {
			return err
		}
	}
	return nil
}

// left is about how many measurements there are left, from the beginning of a round of a field.
func (s *season) left(from *field, round int) (n int) {
	for r := round; r < s.rounds; r++ {
		for _, f := range s.fields {
			if s.samples.rounds(f.contest) <= r && (r > round || f == from || s.samples.rounds(f.contest) <= round) {
				n += len(s.entrants(f))
			}
		}
	}
	return n
}

// entrants returns who runs in the next round of a contest: we, and the peers with all tunings that fit, or those that
// are worth another round.
func (s *season) entrants(f *field) (all []entrant) {
	for _, registered := range f.ours {
		all = append(all, entrant{name: ourName(registered), registered: registered})
	}
	for _, who := range f.peers {
		p := peerNamed(who)
		kept := s.kept(f.contest, who)
		for i := range p.tunings {
			t := &p.tunings[i]
			n := name{Who: who, Tuning: t.name}
			if t.fits(f.contest) && (s.samples.rounds(f.contest) == 0 || slices.Contains(kept, n)) {
				all = append(all, entrant{name: n, peer: p, tuning: t})
			}
		}
	}
	return all
}

// needed returns the peers that run in any contest.
func (s *season) needed() (who []*peer) {
	for _, p := range peers {
		if slices.ContainsFunc(s.fields, func(f *field) bool { return slices.Contains(f.peers, p.name) }) {
			who = append(who, p)
		}
	}
	return who
}
