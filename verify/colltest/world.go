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

// perform runs the trials of a case in a running world, or starts one. If all ranks return, their results are judged
// while the caller goes on. It closes a world if a rank has not returned, or not without an error, because that may
// have left its ranks out of step. What has not ended within patience goes on, if it may take most, in a world that is
// used no more, until the verdict is released.
func (s *Suite) perform(ctx context.Context, d drawn, patience, most time.Duration) *tried {
	t := &tried{Case: d.Case, over: make(chan struct{})}
	if d.err != nil {
		t.ends([]Problem{{Kind: Erred, Rank: -1, Text: "this is not a case: " + d.err.Error()}}, nil)
		return t
	}
	t.counts = Counts{Cases: 1, Calls: len(d.trials)}
	w, err := s.world(ctx, d.Size)
	if err != nil {
		t.ends([]Problem{{Kind: Erred, Rank: -1, Text: fmt.Sprintf("starting %d ranks: %v", d.Size, err)}}, nil)
		return t
	}
	before := w.made
	w.made = append(w.made, d.Case)
	p := newPerformance(&t.Case, d.trials, s.can.Direct)
	p.comms = w.comms
	w.comms += len(d.Comms)
	begin := time.Now()
	problems, stuck := p.run(ctx, w.World, patience, most)
	t.took = time.Since(begin)
	if stuck != nil {
		delete(s.worlds, d.Size)
		t.stuck, t.release = stuck, func() {
			stuck.end()
			_ = w.end(d.Size)
		}
	}
	if len(problems) > 0 {
		_ = s.end(d.Size) // an error after a failure adds nothing
		t.ends(problems, before)
		return t
	}
	if len(before) > 0 {
		s.slowest = max(s.slowest, t.took)
	}
	if wrong := d.trials[len(d.trials)-1].step.Wrong; wrong == WrongCounts || wrong != "" && !s.can.AfterWrong {
		_ = s.end(d.Size) // what a wrong call leaves behind is not specified
	}
	t.judged = true
	go func() { t.ends(p.results(&t.counts), before) }()
	return t
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

// end closes the world of a size, if there is one.
func (s *Suite) end(size int) error {
	w := s.worlds[size]
	if w == nil {
		return nil
	}
	delete(s.worlds, size)
	return w.end(size)
}

// end closes the world, and gives up after a while.
func (w *running) end(size int) error {
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
