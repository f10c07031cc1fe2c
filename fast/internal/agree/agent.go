package agree

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Plane is what an Agent needs of the control plane. Send does not block.
type Plane interface {
	Send(to int, t wire.Topic, body []byte, files ...int)
	Handle(comm uint64, kind uint8, f func(wire.Note))
	Watch(f func(process int, err error)) (stop func())
}

// Agent is one member's part in all agreements of a group, one after the other. It goes on answering the others when
// the member's calls have returned, until Leave.
type Agent struct {
	plane     Plane
	topic     wire.Topic
	processes []int // by member
	me        int
	unwatch   func()

	mu         sync.Mutex
	agreements map[uint64]*Agreement // from base on
	base       uint64
	next       uint64                  // the number of the member's next call
	undecided  uint64                  // this member has the results of all agreements before
	settled    []uint64                // the same of the other members, as far as they have said
	gone       Set                     // members that have left the group or died
	causes     map[int]error           // why
	known      Set                     // members whose end is no news to While
	cancel     context.CancelCauseFunc // of While; nil: there is none
	ended      chan struct{}           // closed when this member takes no part any more
	err        error                   // why
}

// New makes member me's agent. The processes are by member; the messages are those of comm and kind.
func New(p Plane, comm uint64, kind uint8, processes []int, me int) *Agent {
	size := len(processes)
	a := &Agent{
		plane: p, topic: wire.Topic{Comm: comm, Kind: kind}, processes: processes, me: me,
		agreements: make(map[uint64]*Agreement), base: 1, next: 1, undecided: 1, settled: make([]uint64, size),
		gone: newSet(size), causes: make(map[int]error), ended: make(chan struct{}),
	}
	a.unwatch = p.Watch(a.down)
	p.Handle(comm, kind, a.take)
	return a
}

// Start begins the next agreement of all members, with this member's flags. All members make the same calls in the same
// order, and with the same quorum: the least number of members that the value is to be agreed on by, or 0. The caller
// sees to it that there are not more than MaxOpen without a result before.
func (a *Agent) Start(c Call, flags uint64, quorum int) *Agreement {
	x := &Agreement{agent: a}
	a.do(func() {
		x = a.agreement(a.next)
		a.next++
		x.Machine.Start(c, flags, quorum)
	})
	return x
}

// Wait waits for the result. It may be called again after it failed with *wire.TimeoutError, at the end of ctx: the
// agreement goes on. It fails with wire.ErrNoQuorum; with wire.ErrFenced if the others go on without this member; and
// with the error that Leave was given.
func (x *Agreement) Wait(ctx context.Context) (Value, error) {
	a := x.agent
	wire.ReportWait(ctx, x.awaited)
	select {
	case <-x.done:
	case <-a.ended:
		return Value{}, a.err
	case <-ctx.Done():
		a.mu.Lock()
		defer a.mu.Unlock()
		return Value{}, wire.Timeout(ctx, x.Waiting())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch v, ok := x.Decision(); {
	case !ok:
		return Value{}, wire.ErrNoQuorum
	case v.Gone.Has(a.me):
		return Value{}, wire.ErrFenced
	default:
		return v, nil
	}
}

// awaited returns the members that this one is waiting for.
func (x *Agreement) awaited() []int {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	return x.Waiting()
}

// Cause returns why a member is gone; nil if this member does not know.
func (a *Agent) Cause(member int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.causes[member]
}

// down takes note that a process is down.
func (a *Agent) down(process int, err error) {
	switch member := slices.Index(a.processes, process); {
	case member == a.me:
		if a.end(err) {
			Leave(a.plane, a.topic.Comm, a.topic.Kind, a.processes, a.me)
		}
	case member >= 0:
		a.do(func() { a.lose(member, err) })
	}
}

// lose takes note that a member is gone: that it has left, if err is wire.ErrClosed, or else died.
func (a *Agent) lose(member int, err error) {
	if a.gone.Has(member) {
		return
	}
	a.gone.add(member)
	a.causes[member] = err
	for _, x := range a.agreements {
		x.Gone(member, a.died(member))
	}
	a.interrupt(member)
}

// died reports whether a member that is gone did not leave by itself.
func (a *Agent) died(member int) bool { return !errors.Is(a.causes[member], wire.ErrClosed) }

// take receives a message.
func (a *Agent) take(n wire.Note) {
	member := slices.Index(a.processes, n.From)
	m, err := decode(n.Body, len(a.processes))
	if err != nil || member < 0 || member == a.me {
		return
	}
	a.do(func() {
		switch {
		case m.Seq == 0 && m.Kind == Left:
			a.lose(member, wire.ErrClosed)
		case m.Seq >= a.base && m.Seq < a.next+ahead:
			a.agreement(m.Seq).Take(member, m)
			a.settle(member, &m)
		}
	})
}
