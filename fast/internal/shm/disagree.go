//go:build linux

package shm

import "github.com/collgen/collgen/fast/internal/wire"

// Ranks whose calls do not match may wait for each other without a message that would tell: two roots that both
// receive, or a rank whose call has no messages. A rank whose sleep was in vain looks for that in what the others have
// published.

// inVain returns what a rank finds out after a nap that nothing has ended: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	e.sayStuck()
	e.stall()
	disagreement := e.disagreement()
	if disagreement == nil {
		return nil
	}
	// What the other ranks did before they published is seen here: this rank cannot go on indeed.
	if moved, err := e.advance(); moved || err != nil {
		return err
	}
	return disagreement
}

// sayStuck says what this rank waits for on all of its rings.
func (e *Endpoint) sayStuck() {
	for i := range e.out {
		if m := &e.out[i]; m.inTurn() {
			m.link.out.head.sender.say(m.link.out.taken+depth, m.call)
		}
	}
	for i := range e.in {
		if m := &e.in[i]; m.inTurn() {
			m.link.in.head.receiver.say(m.link.in.next, m.call)
		}
	}
}

// say says that this rank is stuck at a segment. Once said, it is not said again, so that others can read it.
func (s *stuck) say(segment uint32, call wire.Mark) {
	at := stuckAt(segment, call.Fingerprint)
	if was, ok := s.call.read(); s.at.Load() == at && ok && was.Fingerprint() == call.Fingerprint {
		return
	}
	s.call.write(call)
	s.at.Store(at)
}

// in returns the call that the rank is stuck in, if it is stuck at that segment.
func (s *stuck) in(segment uint32) (wire.Call, bool) {
	call, ok := s.call.read()
	return call, ok && s.at.Load() == stuckAt(segment, call.Fingerprint())
}

// stuckAt says for which segment of a ring a rank waits, and in which call. That stays true until the other rank has
// done its part, which the other rank knows: nobody needs to take it back.
func stuckAt(segment uint32, fingerprint uint64) uint64 {
	return uint64(segment)<<32 | uint64(uint32(fingerprint))
}

// disagreement compares the calls of the messages that this rank waits for with those of the other ranks.
func (e *Endpoint) disagreement() error {
	for l, call := range e.pending() {
		if err := e.explain(l, call.Call); err != nil {
			return err
		}
	}
	return nil
}

// explain compares a call with the one of l's peer that is to agree with it, or with the one that the peer is stuck in.
// This rank waits for the peer.
func (e *Endpoint) explain(l *link, mine *wire.Call) error {
	var calls [history]wire.Call
	theirs := wire.Counterpart(l.control.past(calls[:0]), mine)
	if theirs == nil {
		call, ok := l.stuckIn()
		if !ok {
			return nil
		}
		theirs = &call
	}
	if theirs.Fingerprint() == mine.Fingerprint() {
		return nil
	}
	found := *theirs // so that only a disagreement takes memory
	return wire.Standoff(mine, &found, e.rank, l.peer, e.own.past(nil), l.control.past(nil))
}

// stuckIn returns the call of l's peer if the peer can only go on in it after this rank has sent it a segment that it
// has not sent yet, or has taken one that it has not taken. If this rank waits for the peer too, neither of them ever
// goes on.
func (l *link) stuckIn() (wire.Call, bool) {
	if call, ok := l.out.head.receiver.in(l.out.next); ok {
		return call, true
	}
	return l.in.head.sender.in(l.in.next + depth)
}

// crossed returns the error of an Exchange that only sent, to a rank that has sent something too, in another version of
// the same call: two ranks that both take themselves for the root. Of two such ranks at least the later one sees it.
func (e *Endpoint) crossed(sends []wire.Send) error {
	for i := range sends {
		l, mine := &e.links[sends[i].Peer], e.current.Of(sends[i].Call)
		next := &l.in.head.lines[l.in.next%depth]
		if next.seq.Load() != l.in.next+1 || next.fingerprint == mine.Fingerprint {
			continue
		}
		past := l.control.past(nil)
		if theirs := wire.Counterpart(past, mine.Call); theirs != nil {
			if err := wire.Explain(mine.Call, theirs, l.peer, e.own.past(nil), past); err != nil {
				return err
			}
		}
	}
	return nil
}
