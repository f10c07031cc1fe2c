//go:build linux

package shm

import "github.com/collgen/collgen/internal/events"

// A message that came in one segment, for a receive marked Lend, stays where it lies: the receiver reads it there and
// gives the slot back later. It must be the last message of its link in its Exchange, so that nothing that the Exchange
// waits for needs the slot. While anything is lent, the rank holds its guard, so that the memory stays mapped even if
// the endpoint fails or is closed.

// lend points m's receive at data, the last segment taken from its link. The slot is given back later.
func (e *Endpoint) lend(m *incoming, data []byte) {
	m.Into = data
	e.lent = append(e.lent, m.link)
}

// Release gives back what the last Exchange lent. The next Exchange does so, too.
func (e *Endpoint) Release() {
	if len(e.lent) > 0 {
		e.repay()
		e.releaseOwn()
	}
}

// repay gives back everything that is lent.
func (e *Endpoint) repay() {
	for _, l := range e.lent {
		if events.On {
			e.trail.Part(events.Freed, events.Part{Peer: l.peer, Segment: l.in.next - 1})
		}
		e.taken(l)
	}
	e.lent = e.lent[:0]
}

// taken tells l's peer that all segments before the next one have been taken.
func (e *Endpoint) taken(l *link) {
	e.announce(l, &l.in.head.tail, l.in.next)
	e.wakeSender(l.control)
}

// enter acquires e's guard, which e may still hold because of a loan, and reports whether it is open.
func (e *Endpoint) enter() bool {
	if len(e.lent) > 0 {
		e.repay()
		return true
	}
	if e.guard.acquireOwn() {
		return true
	}
	e.exit()
	return false
}

// exit releases the guard, unless something is lent.
func (e *Endpoint) exit() {
	if len(e.lent) == 0 && e.guard.releaseOwn() {
		e.free()
	}
}
