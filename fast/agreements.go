package fast

import (
	"context"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/control"

	"github.com/collgen/collgen/fast/internal/agree"
)

// agreements is what a communicator has for Agree, Shrink and Grow, which work beside the data path.
type agreements struct {
	running  sync.Mutex // a call
	reserved bool       // it has reserved the communicator
	mu       sync.Mutex // guards what follows
	agent    *agree.Agent
	shrinks  *shrinking // the Shrink whose context has ended before it had a result
	invited  []int      // processes that have got a ticket here, and are not in a communicator
	left     error      // why this rank takes no part any more
	off      struct {   // an Agree or a Grow that never ends: see beside.go
		seq uint64 // 0: there is none
		err error  // why
	}
	waits struct { // the call
		seq    uint64
		cancel context.CancelCauseFunc // ends its wait
	}
}

// agent returns what takes part in agreements for this rank. It is made when it is needed first: what other ranks have
// sent waits until then.
func (c *Comm) agent() (*agree.Agent, error) {
	s := &c.agreements
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agent == nil && s.left == nil {
		s.agent = agree.New(c.world.plane, c.id, control.KindAgree, c.processes(), c.rank)
	}
	return s.agent, s.left
}

// open returns how many agreements have no result yet.
func (a *agreements) open() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.agent == nil {
		return 0
	}
	return a.agent.Open()
}

// leaveAgreements has this rank take no part in agreements any more, because of err.
func (c *Comm) leaveAgreements(err error) {
	s := &c.agreements
	s.mu.Lock()
	agent, shrinks, first := s.agent, s.shrinks, s.left == nil
	if first {
		s.left, s.shrinks = err, nil
	}
	s.mu.Unlock()
	if shrinks != nil {
		shrinks.drop()
	}
	switch {
	case !first || c.world == nil:
	case agent != nil:
		agent.Leave(err)
	case c.world.users.Load() > 1: // else the others hear that the whole process leaves
		agree.Leave(c.world.plane, c.id, control.KindAgree, c.processes(), c.rank)
	}
}

// processes returns the numbers of all ranks' processes.
func (c *Comm) processes() []int {
	all := make([]int, c.size)
	for rank := range all {
		all[rank] = c.process(rank)
	}
	return all
}

// keep keeps a Shrink for the next call, unless the communicator was given up.
func (a *agreements) keep(s *shrinking) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == nil {
		a.shrinks = s
	}
	return a.left == nil
}

// callOff has Agree and Grow fail with err that are agreement seq, if that is not 0. The first one counts.
func (a *agreements) callOff(seq uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seq == 0 || a.off.seq != 0 {
		return
	}
	a.off.seq, a.off.err = seq, err
	if a.waits.seq == seq {
		a.waits.cancel(err)
	}
}

// calledOff returns why agreement seq never ends, if it is known not to.
func (a *agreements) calledOff(seq uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seq == 0 || a.off.seq != seq {
		return nil
	}
	return a.off.err
}

// waiting returns ctx, which ends too when agreement seq is called off, until end.
func (a *agreements) waiting(ctx context.Context, seq uint64) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits.seq, a.waits.cancel = seq, cancel
	return ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.waits.seq = 0
		cancel(nil)
	}
}

// dismiss forgets invitations.
func (a *agreements) dismiss(guests []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.invited = slices.DeleteFunc(a.invited, func(p int) bool { return slices.Contains(guests, p) })
}
