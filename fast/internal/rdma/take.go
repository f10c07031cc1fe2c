package rdma

import (
	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
)

// pull takes what has come for the receives on l, and tells whether that was anything. A receive for which nothing comes any
// more is an error.
func (e *Endpoint) pull(l *link) (moved bool, err error) {
	for m := l.receiving(); m != nil; m = l.receiving() {
		switch {
		case l.opened:
			if l.place(m) == 0 && l.at < l.current.bytes {
				return moved, nil // of a receive marked AfterSend
			}
			e.settle(l, m)
		case l.in.next != l.in.come && !l.lent:
			if err := e.begin(l, m); err != nil {
				return moved, err
			}
		case moved:
			return true, nil
		default:
			return false, l.verdict
		}
		moved = true
	}
	return moved, nil
}

// begin looks at the next segment, which has to be one of m.
func (e *Endpoint) begin(l *link, m *incoming) error {
	n := l.in.next
	s, err := parse(l.slot(n), l.came[n%l.in.slots])
	if err == nil && s.call != nil {
		err = l.partner.Tell(s.told, s.call)
	}
	switch {
	case err != nil:
		return l.died("it has sent %w", err)
	case s.Fingerprint != l.partner.Known:
		return l.died("it has sent a message of a call that it has not told")
	}
	missing := len(m.Into) - m.at
	if m.where != nil {
		missing = 0
	}
	if s.Fingerprint != m.mark.Fingerprint || s.Left != uint64(missing) {
		return l.partner.Refuse(&e.history, talk.Turn{Call: m.mark.Call, Fingerprint: m.mark.Fingerprint}, uint64(len(m.Into)),
			s.Fingerprint, uint64(m.at)+s.Left)
	}
	if s.Left >= longBytes && s.bytes == 0 {
		if m.begun {
			return l.died("it has asked twice where a message is to go")
		}
		e.grant(l, m)
	} else if m.where != nil {
		m.where, m.at = nil, len(m.Into)
	}
	m.begun, l.opened, l.current, l.at = true, true, s, 0
	return nil
}

// place copies, reduces or lends what was not taken of the current segment, as far as that may go, and gives how many bytes that was.
func (l *link) place(m *incoming) int {
	n := l.current.bytes - l.at
	if m.after != nil {
		n = min(n, m.after.at-m.at)
	}
	if m.Kernel != nil && m.at+n < len(m.Into) {
		n -= n % wire.Segment
	}
	if n == 0 {
		return 0
	}
	data := l.slot(l.in.next)[payloadAt+l.at:][:n:n]
	if m.Lend && m.Kernel == nil && n == len(m.Into) && l.taken == len(l.recvs)-1 {
		m.Into, l.lent = data, true
	} else {
		m.apply(data)
	}
	m.at, l.at = m.at+n, l.at+n
	return n
}

// apply copies or reduces data, the next part of the message, to its place.
func (m *incoming) apply(data []byte) {
	to := m.at + len(data)
	into := m.Into[m.at:to:to]
	switch {
	case m.Kernel == nil:
		copy(into, data)
	case m.ReceivedFirst:
		m.Kernel(into, data, m.With[m.at:to:to])
	default:
		m.Kernel(into, m.With[m.at:to:to], data)
	}
}

// settle ends the current segment, if all of it was taken, and m, if it is complete.
func (e *Endpoint) settle(l *link, m *incoming) {
	if l.at < l.current.bytes {
		return
	}
	l.opened, l.current = false, segment{}
	if l.lent {
		e.lent++
	} else {
		e.freeSlot(l)
	}
	if m.at == len(m.Into) {
		l.taken++
		l.receivedEver++
		e.open--
	}
}

// freeSlot gives the slot in turn back to its sender.
func (e *Endpoint) freeSlot(l *link) {
	l.in.next++
	if l.in.owes() {
		e.flush(l)
	}
}

// grant answers where m is to go: to its place, if that is registered memory and may be written now, or through the slots.
func (e *Endpoint) grant(l *link, m *incoming) {
	answer := place{n: l.receivedEver}
	if m.Kernel == nil && m.after == nil {
		m.where = e.known.registered(m.Into)
	}
	if m.where != nil {
		answer.granted = true
		answer.at, answer.key = m.where.region.Place()
		answer.at += uint64(m.where.offset(m.Into))
	}
	l.unsaid = answer.append(l.unsaid)
	e.flush(l)
}

// Release ends the loan of what the last Exchange has lent.
func (e *Endpoint) Release() {
	if e.lent == 0 {
		return
	}
	e.giveBack()
	e.rest()
}

// giveBack gives the slots back that are lent.
func (e *Endpoint) giveBack() {
	for i := range e.links {
		if l := &e.links[i]; l.lent {
			l.lent = false
			e.lent--
			e.freeSlot(l)
		}
	}
}
