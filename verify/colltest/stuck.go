package colltest

import (
	"context"
	"time"
)

// stuck is a performance that has taken longer than its patience, and goes on.
type stuck struct {
	*performance
	ctx    context.Context
	cancel func()
	over   <-chan struct{}
	most   time.Duration // the time limit of ctx
}

// wait waits until the calls have ended, or their time is over. It returns their problems then: that they hang, unless
// they have ended in time.
func (s *stuck) wait() []Problem {
	select {
	case <-s.over:
	case <-s.ctx.Done():
		waitFor(s.over, grace)
	}
	select {
	case <-s.over:
		if s.inTime {
			if found := s.reported(); len(found) > 0 {
				return found
			}
			return s.results(new(Counts))
		}
	default:
	}
	if s.ctx.Err() != context.DeadlineExceeded {
		return nil // it was interrupted
	}
	return s.hang(s.most)
}

// end ends the calls.
func (s *stuck) end() {
	s.cancel()
	waitFor(s.over, grace)
}
