package rdma

import (
	"errors"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
)

// pull takes what has come for the receives on l, and tells whether that was anything. A receive for which nothing
// comes any more is an error.
func (e *Endpoint) pull(peer int) (moved bool, err error) {
	l := &e.links[peer]
	for m := l.Receiving(); m != nil; m = l.Receiving() {
		switch {
		case l.opened:
			if l.place(m) == 0 && l.at < l.current.bytes {
				return moved, nil // of a receive marked AfterSend
			}
			e.settle(l, m)
		case l.in.next != l.in.come && !l.lent && l.whole():
			if err := e.begin(l, m); err != nil {
				return moved, err
			}
		case moved:
			return true, nil
		case l.in.next != l.in.come && !l.dead && errors.Is(l.Err, wire.ErrClosed):
			return false, nil // the other rank has written all before its last word, though not over the same lane
		default:
			return false, l.Err
		}
		moved = true
	}
	return moved, nil
}

// begin looks at the next segment, which has to be one of m.
func (e *Endpoint) begin(l *link, m *linkbase.Incoming) error {
	n := l.in.next
	s, err := parse(l.slot(n), l.came[n%l.in.slots])
	if err == nil && s.call != nil {
		err = l.Partner.Tell(s.told, s.call)
	}
	if err != nil {
		return l.PeerDied("it has sent %w", err)
	}
	missing := len(m.Into) - m.At
	if l.where != nil {
		missing = 0
	}
	if err := e.Check(&l.Link, m, s.Header, missing); err != nil {
		return err
	}
	if s.Left >= longBytes && s.bytes == 0 {
		if m.Begun {
			return l.PeerDied("it has asked twice where a message is to go")
		}
		e.grant(l, m)
	} else if l.where != nil {
		l.where, m.At = nil, len(m.Into)
	}
	m.Begun, l.opened, l.current, l.at = true, true, s, 0
	return nil
}

// place copies, reduces or lends what was not taken of the current segment, as far as that may go, and gives how many
// bytes that was.
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

// settle ends the current segment, if all of it was taken, and m, if it is complete.
func (e *Endpoint) settle(l *link, m *linkbase.Incoming) {
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

// freeSlot gives the slot in turn back to its sender.
func (e *Endpoint) freeSlot(l *link) {
	l.in.next++
	if l.in.owes() {
		e.flush(l)
	}
}

// grant answers where m is to go: to its place, if that is registered memory and may be written now, or through the
// slots.
func (e *Endpoint) grant(l *link, m *linkbase.Incoming) {
	answer := place{n: l.Received}
	if m.Kernel == nil && m.After == nil {
		l.where = e.known.registered(m.Into)
	}
	if l.where != nil {
		answer.grant(l.where, l.where.offset(m.Into))
		l.granted++
	}
	l.unsaid = answer.append(l.unsaid)
	e.flush(l)
}

// Release ends the loan of what the last Exchange has lent.
func (e *Endpoint) Release() {
	if e.Lent == 0 {
		return
	}
	e.giveBack()
	e.Leave()
}

// giveBack gives the slots back that are lent.
func (e *Endpoint) giveBack() {
	for i := range e.links {
		if l := &e.links[i]; l.lent {
			l.lent = false
			e.Lent--
			e.freeSlot(l)
		}
	}
}
