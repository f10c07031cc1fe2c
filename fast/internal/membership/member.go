// Package membership has the ranks of a communicator agree although some of them fail: on flags (Agree), on a
// communicator of the ranks that are left (Shrink), and on one with processes that join (Grow). Package agree has the
// protocol of one agreement; here is what is agreed on, and what follows from the result.
package membership

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/control"
)

// Comm is the communicator whose ranks agree.
type Comm interface {
	// Make makes a communicator of processes, by rank. All of them do.
	Make(ctx context.Context, id uint64, name string, processes []int) (io.Closer, error)
	// Watch returns ctx for a call that may wait for other ranks, and logs warnings of it until stop.
	Watch(ctx context.Context, call string) (_ context.Context, stop func())
	// Inquire finds out, until stop, whether an agreement cannot end because a rank is in another call.
	Inquire(number uint64, call string, waitsFor func() []int) (stop func())
	// Fenced gives the communicator up, because the other ranks go on without this one.
	Fenced()
	// Log writes the result of an agreement to the event log.
	Log(call agree.Call, number uint64, v *agree.Value, err error)
	// CallError returns err as the error of an agreement.
	CallError(call string, number uint64, err error) error
	// Shared reports whether this process has other communicators that are open.
	Shared() bool
}

// Member is one rank's part in the agreements of a communicator. One call at a time runs, between TryBegin and End.
type Member struct {
	comm      Comm
	plane     control.Plane
	id        uint64 // of the communicator
	name      string
	rank      int
	size      int
	processes func() []int // by rank

	running  sync.Mutex // held by a call
	reserved bool       // the call has reserved the communicator

	mu      sync.Mutex // guards the rest
	agent   *agree.Agent
	shrink  *shrinking // the Shrink whose context ended before it had a result
	invited []int      // processes that were given a ticket here, and have not joined yet
	left    error      // why this rank takes no part any more
	off     struct {   // an Agree or Grow that cannot end, because a rank is in another call
		seq uint64 // 0: there is none
		err error
	}
	waits struct { // the call
		seq    uint64
		cancel context.CancelCauseFunc // ends its wait
	}
}

// New returns the part of a rank in the agreements of communicator id.
func New(c Comm, p control.Plane, id uint64, name string, rank, size int, processes func() []int) *Member {
	return &Member{comm: c, plane: p, id: id, name: name, rank: rank, size: size, processes: processes}
}

// TryBegin begins a call, unless one is running.
func (m *Member) TryBegin() bool { return m.running.TryLock() }

// Reserve says whether the call has reserved the communicator.
func (m *Member) Reserve(reserved bool) { m.reserved = reserved }

// Reserved reports whether the call has reserved the communicator.
func (m *Member) Reserved() bool { return m.reserved }

// End ends the call.
func (m *Member) End() { m.running.Unlock() }

// Open returns how many agreements have no result yet.
func (m *Member) Open() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agent == nil {
		return 0
	}
	return m.agent.Open()
}

// HasBegun reports whether this rank has begun agreement seq, or never will.
func (m *Member) HasBegun(seq uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left != nil || m.agent != nil && m.agent.Begun(seq)
}

// getAgent returns the agent, which is made when it is first needed. Until then messages of other ranks wait in the
// control plane.
func (m *Member) getAgent() (*agree.Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agent == nil && m.left == nil {
		m.agent = agree.New(m.plane, m.id, control.KindAgree, m.processes(), m.rank)
	}
	return m.agent, m.left
}

// Leave ends this rank's part in agreements, because of err.
func (m *Member) Leave(err error) {
	m.mu.Lock()
	agent, shrink, first := m.agent, m.shrink, m.left == nil
	if first {
		m.left, m.shrink = err, nil
	}
	m.mu.Unlock()
	if shrink != nil {
		shrink.drop()
	}
	switch {
	case !first:
	case agent != nil:
		agent.Leave(err)
	case m.comm.Shared(): // otherwise the others hear that the whole process leaves
		agree.Leave(m.plane, m.id, control.KindAgree, m.processes(), m.rank)
	}
}

// CallOff has the Agree or Grow that is agreement seq, unless that is 0, fail with err. Only the first one counts.
func (m *Member) CallOff(seq uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq == 0 || m.off.seq != 0 {
		return
	}
	m.off.seq, m.off.err = seq, err
	if m.waits.seq == seq {
		m.waits.cancel(err)
	}
}

// calledOff returns why agreement seq cannot end, if that is known.
func (m *Member) calledOff(seq uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq == 0 || m.off.seq != seq {
		return nil
	}
	return m.off.err
}

// cancelled returns ctx, which also ends when agreement seq is called off, until end.
func (m *Member) cancelled(ctx context.Context, seq uint64) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits.seq, m.waits.cancel = seq, cancel
	return ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waits.seq = 0
		cancel(nil)
	}
}

// keep keeps a Shrink for the next call, unless this rank has left.
func (m *Member) keep(s *shrinking) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left == nil {
		m.shrink = s
	}
	return m.left == nil
}

// takeKept returns the Shrink that was kept, if there is one.
func (m *Member) takeKept() *shrinking {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.shrink
	m.shrink = nil
	return s
}

// dismiss forgets the invitations of processes.
func (m *Member) dismiss(processes []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invited = slices.DeleteFunc(m.invited, func(p int) bool { return slices.Contains(processes, p) })
}
