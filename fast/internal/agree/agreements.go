package agree

import "github.com/collgen/collgen/fast/internal/wire"

// Agreement is one of an Agent's.
type Agreement struct {
	*Machine
	Seq   uint64 // its number in the group, from 1; 0: the Agent took no part any more
	agent *Agent
	done  chan struct{} // closed when there is a result
	over  bool          // there is
}

// MaxOpen is how many agreements a member that begins another one may have without results, because it did not wait for
// them. What a member says of one that is further ahead of others than that is lost.
const MaxOpen = 512

// ahead is how many agreements another member may be ahead of this one: a call may begin several.
const ahead = 2 * MaxOpen

// Open returns how many agreements this member has begun that have no result yet.
func (a *Agent) Open() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return int(a.next - a.undecided)
}

// Begun reports whether this member has begun agreement seq.
func (a *Agent) Begun(seq uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return seq < a.next
}

// WaitsFor returns the members that this one is waiting for.
func (x *Agreement) WaitsFor() []int {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	return x.Waiting()
}

// agreement returns that of number seq.
func (a *Agent) agreement(seq uint64) *Agreement {
	x := a.agreements[seq]
	if x == nil {
		x = &Agreement{Machine: NewMachine(len(a.processes), a.me), Seq: seq, agent: a, done: make(chan struct{})}
		a.agreements[seq] = x
		for _, member := range a.gone.Members() {
			x.Gone(member, a.died(member))
		}
	}
	return x
}

// letter is a message that is ready to be sent.
type letter struct {
	process int
	body    []byte
}

// do has f change what this member knows, unless its part is over, and does what follows from it. Messages are sent
// without the lock, because the receiver may be called at once, and answer.
func (a *Agent) do(f func()) {
	a.mu.Lock()
	var letters []letter
	if a.err == nil {
		f()
		letters = a.letters()
	}
	a.mu.Unlock()
	for _, l := range letters {
		a.plane.Send(l.process, a.topic, l.body)
	}
}

// letters returns the messages that all agreements want sent. It wakes those who wait for a result.
func (a *Agent) letters() (all []letter) {
	for a.conclude() {
		continue
	}
	if a.err != nil {
		return nil
	}
	for a.undecided < a.next && a.agreements[a.undecided].over {
		a.undecided++
	}
	for seq, x := range a.agreements {
		for _, e := range x.Outgoing() {
			e.Seq, e.Settled = seq, a.undecided
			if e.Kind == Propose || e.Kind == Decide {
				e.Settled = a.settledByAll()
			}
			all = append(all, letter{a.processes[e.To], e.encode(len(a.processes))})
		}
	}
	return all
}

// conclude finds an agreement that has got a result, if there is one. Members that are given up by it are gone from now
// on; it may be this one.
func (a *Agent) conclude() bool {
	for _, x := range a.agreements {
		v, decided := x.Decision()
		if x.over || !decided && !x.Lost() {
			continue
		}
		x.over = true
		close(x.done)
		if v.Gone.Has(a.me) {
			a.stop(wire.ErrFenced)
			return false
		}
		for _, member := range v.Gone.Members() {
			cause := wire.ErrClosed
			if v.Dead.Has(member) {
				cause = wire.ErrDied
			}
			a.lose(member, cause)
		}
		return true
	}
	return false
}

// settle takes note of what a member's message says of earlier agreements: those that all have the results of are
// forgotten, because nobody will ask for them any more.
func (a *Agent) settle(member int, m *Message) {
	switch m.Kind {
	case State:
		a.settled[member] = max(a.settled[member], m.Settled)
		a.forget(a.settledByAll())
	case Propose, Decide:
		a.forget(min(m.Settled, a.undecided))
	}
}

// settledByAll returns such that all members that are not gone have said that they have the results of all agreements
// before.
func (a *Agent) settledByAll() uint64 {
	lowest := a.undecided
	for member, n := range a.settled {
		if member != a.me && !a.gone.Has(member) {
			lowest = min(lowest, n)
		}
	}
	return lowest
}

func (a *Agent) forget(before uint64) {
	for ; a.base < before; a.base++ {
		delete(a.agreements, a.base)
	}
}
