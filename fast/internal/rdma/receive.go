package rdma

import (
	"errors"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
)

// pull takes what has arrived for the receives from peer, and reports whether that was anything. It returns an error if
// a receive can never complete.
func (e *Endpoint) pull(peer int) (moved bool, err error) {
	l := &e.links[peer]
	for m := l.Receiving(); m != nil; m = l.Receiving() {
		switch {
		case l.opened:
			if l.place(m) == 0 && l.at < l.current.bytes {
				return moved, nil // of a receive marked AfterSend
			}
			e.endSegment(l, m)
		case l.in.next != l.in.arrived && !l.lent && l.partsArrived():
			if err := e.beginSegment(l, m); err != nil {
				return moved, err
			}
		case moved:
			return true, nil
		case l.in.next != l.in.arrived && !l.dead && errors.Is(l.Err, wire.ErrClosed):
			return false, nil // the peer wrote everything before its goodbye, though not over the same queue pair
		default:
			return false, l.Err
		}
		moved = true
	}
	return moved, nil
}

// beginSegment inspects the next segment, which has to be one of m.
func (e *Endpoint) beginSegment(l *link, m *linkbase.Incoming) error {
	n := l.in.next
	s, err := parse(l.slot(n), l.written[n%l.in.slots])
	if err == nil && s.call != nil {
		err = l.Partner.SetCall(s.told, s.call)
	}
	if err != nil {
		return l.PeerDied("it has sent %w", err)
	}
	missing := len(m.Into) - m.At
	if l.target != nil {
		missing = 0
	}
	if err := e.CheckSegment(&l.Link, m, s.Header, missing); err != nil {
		return err
	}
	if s.Left >= longBytes && s.bytes == 0 {
		if m.Begun {
			return l.PeerDied("it has asked twice where a message is to go")
		}
		e.answer(l, m)
	} else if l.target != nil {
		l.target, m.At = nil, len(m.Into)
	}
	m.Begun, l.opened, l.current, l.at = true, true, s, 0
	return nil
}

// answer tells the sender where m goes: to its destination, if that is registered memory and may be written now, or
// through the slots.
func (e *Endpoint) answer(l *link, m *linkbase.Incoming) {
	answer := remoteBuffer{n: l.Received}
	if m.Kernel == nil && m.After == nil {
		l.target = e.registered.find(m.Into)
	}
	if l.target != nil {
		answer.grant(l.target, l.target.offset(m.Into))
		l.granted++
	}
	l.pending = answer.append(l.pending)
	e.flushControl(l)
}

// place copies, reduces or lends what was not taken of the current segment, as far as that is allowed, and returns the
// number of bytes.
func (l *link) place(m *linkbase.Incoming) int {
	n := m.Fits(l.current.bytes - l.at)
	if n == 0 {
		return 0
	}
	data := l.slot(l.in.next)[payloadAt+l.at:][:n:n]
	if m.Lend && m.Kernel == nil && n == len(m.Into) && l.ReceivesLast() {
		m.Into, l.lent = data, true
	} else {
		m.Apply(data)
	}
	m.At, l.at = m.At+n, l.at+n
	return n
}

// endSegment ends the current segment, if all of it was taken, and m, if it is complete.
func (e *Endpoint) endSegment(l *link, m *linkbase.Incoming) {
	if l.at < l.current.bytes {
		return
	}
	l.opened, l.current = false, segment{}
	if l.lent {
		e.Lent++
	} else {
		e.freeSlot(l)
	}
	if m.At == len(m.Into) {
		e.CompleteReceive(&l.Link)
	}
}

// freeSlot returns the slot in turn to its sender.
func (e *Endpoint) freeSlot(l *link) {
	l.in.next++
	if l.in.owesCredits() {
		e.flushControl(l)
	}
}

// Release ends the loan of what the last Exchange lent.
func (e *Endpoint) Release() {
	if e.Lent == 0 {
		return
	}
	e.reclaim()
	e.Leave()
}

// reclaim frees the slots that are lent.
func (e *Endpoint) reclaim() {
	for i := range e.links {
		if l := &e.links[i]; l.lent {
			l.lent = false
			e.Lent--
			e.freeSlot(l)
		}
	}
}
