//go:build linux

package shm

import "github.com/collgen/collgen/internal/events"

// A message that a receive may be lent, and that came in one segment, stays where it lies: the receiver reads it there
// and gives the slot back later. That must be the last message of its link in its Exchange, so that nothing that the
// Exchange waits for needs the slot. As long as anything is lent the rank stays inside its gate, so that the memory
// stays mapped whatever ends the rank's part.

// lend has m's receive look at data, the last segment that was taken of its link. Its slot is given back later.
func (e *Endpoint) lend(m *incoming, data []byte) {
	m.Into = data
	e.lent = append(e.lent, m.link)
}

// Release gives back what the last Exchange has lent. The next Exchange does so, too.
func (e *Endpoint) Release() {
	if len(e.lent) > 0 {
		e.repay()
		e.stepOut()
	}
}

// repay gives back all that is lent.
func (e *Endpoint) repay() {
	for _, l := range e.lent {
		if events.On {
			e.trail.Part(events.Freed, events.Part{Peer: l.peer, Segment: l.in.next - 1})
		}
		e.taken(l)
	}
	e.lent = e.lent[:0]
}

// taken tells l's peer that all segments before the next one were taken.
func (e *Endpoint) taken(l *link) {
	e.announce(l, &l.in.head.tail, l.in.next)
	e.wakeSender(l.control)
}

// enter is true if e is inside its gate, in which it may still be because of what was lent.
func (e *Endpoint) enter() bool {
	if len(e.lent) > 0 {
		e.repay()
		return true
	}
	if e.gate.stepIn() {
		return true
	}
	e.stepOut()
	return false
}

// exit leaves the gate, unless something is lent.
func (e *Endpoint) exit() {
	if len(e.lent) == 0 {
		e.stepOut()
	}
}
