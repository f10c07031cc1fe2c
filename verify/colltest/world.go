package colltest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// running is a world with the cases that it has made.
type running struct {
	World
	made  []Case
	comms int // communicators that its cases have made
}

// perform runs the trials of a case in a running world, or starts one, and returns the failure, if there is one. It
// closes a world if a rank has not returned, or not without an error, because that may have left its ranks out of step.
func (s *Suite) perform(ctx context.Context, c Case, trials []*trial, counts *Counts, patience time.Duration) *Failure {
	w, err := s.world(ctx, c.Size)
	if err != nil {
		return &Failure{Case: c, Problems: []Problem{{Kind: Erred, Rank: -1,
			Text: fmt.Sprintf("starting %d ranks: %v", c.Size, err)}}}
	}
	before := w.made
	w.made = append(w.made, c)
	p := newPerformance(&c, trials, s.can.Direct)
	p.comms = w.comms
	w.comms += len(c.Comms)
	begin := time.Now()
	problems := p.run(ctx, w.World, patience)
	switch {
	case len(problems) > 0:
		_ = s.end(c.Size) // an error after a failure adds nothing
	case len(before) > 0:
		s.slowest = max(s.slowest, time.Since(begin))
		fallthrough
	default:
		problems = p.results(counts)
	}
	if wrong := trials[len(trials)-1].step.Wrong; wrong == WrongCounts || wrong != "" && !s.can.AfterWrong {
		_ = s.end(c.Size) // what a wrong call leaves behind is not specified
	}
	if len(problems) == 0 {
		return nil
	}
	return &Failure{Case: c, Problems: problems, before: before}
}

func (s *Suite) world(ctx context.Context, size int) (*running, error) {
	if w := s.worlds[size]; w != nil {
		return w, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.Starting)
	defer cancel()
	started, err := s.impl.Start(ctx, size)
	if err != nil {
		return nil, err
	}
	w := &running{World: started}
	s.worlds[size] = w
	return w, nil
}

// ending is the time limit for closing a world.
const ending = 10 * time.Second

// end closes the world of a size, if there is one, and gives up after a while.
func (s *Suite) end(size int) error {
	w := s.worlds[size]
	if w == nil {
		return nil
	}
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
