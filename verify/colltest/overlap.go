package colltest

import (
	"iter"
	"sync"
	"time"
)

// drawn is a case with its trials, or why it is no case.
type drawn struct {
	Case
	trials []*trial
	err    error
}

// draw draws the data of a case.
func (s *Suite) draw(c Case) drawn {
	trials, err := s.trials(c)
	return drawn{c, trials, err}
}

// drawAll returns cases with their data.
func (s *Suite) drawAll(cases iter.Seq[Case]) iter.Seq[drawn] {
	return func(yield func(drawn) bool) {
		for c := range cases {
			if !yield(s.draw(c)) {
				return
			}
		}
	}
}

// mostAhead is how many cases are drawn ahead: some take much longer to draw than to try.
const mostAhead = 8

// ahead returns the same cases, some of which are drawn while those before them are tried.
func ahead(cases iter.Seq[drawn]) iter.Seq[drawn] {
	return func(yield func(drawn) bool) {
		next, stop := make(chan drawn, mostAhead), make(chan struct{})
		var drawing sync.WaitGroup
		defer drawing.Wait()
		defer close(stop)
		drawing.Go(func() {
			defer close(next)
			for d := range cases {
				select {
				case next <- d:
				case <-stop:
					return
				}
			}
		})
		for d := range next {
			if !yield(d) {
				return
			}
		}
	}
}

// tried is a case whose calls were made.
type tried struct {
	Case
	took    time.Duration // of the calls
	judged  bool          // its results are judged while the caller goes on
	stuck   *stuck        // the calls, if they have taken too long and go on
	release func()        // ends them; nil: there is nothing to end
	over    chan struct{} // closed when failure and counts are there
	failure *Failure
	counts  Counts
}

func (t *tried) ends(problems []Problem, before []Case) {
	if len(problems) > 0 {
		t.failure = &Failure{Case: t.Case, Problems: problems, before: before, stuck: t.stuck}
	}
	close(t.over)
}

// verdict waits until it is known whether the case has failed. It returns the failure, or nil, and adds the case to
// counts.
func (t *tried) verdict(counts *Counts) *Failure {
	<-t.over
	counts.add(t.counts)
	return t.failure
}
