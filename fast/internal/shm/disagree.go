//go:build linux

package shm

import "github.com/collgen/collgen/fast/internal/wire"

// Ranks whose calls do not match may wait for each other without any message that would show it: two roots that both
// receive, or a rank whose call has no messages. A rank that slept a whole nap compares its calls with those that the
// others have published.

// checkStuck returns the error of a disagreement, or nil. It is called after a nap that ended by its timeout.
func (e *Endpoint) checkStuck() error {
	e.reportStuck()
	e.stall()
	disagreement := e.disagreement()
	if disagreement == nil {
		return nil
	}
	// This sees all that the other ranks did before they published. If nothing moves, this rank really is stuck.
	if moved, err := e.advance(); moved || err != nil {
		return err
	}
	return disagreement
}

// reportStuck publishes what this rank waits for on all of its rings.
func (e *Endpoint) reportStuck() {
	for i := range e.out {
		if m := &e.out[i]; m.inTurn() && !m.Idle {
			m.link.out.head.sender.say(m.link.out.taken+depth, m.call)
		}
	}
	for i := range e.in {
		if m := &e.in[i]; m.inTurn() && !m.Idle {
			m.link.in.head.receiver.say(m.link.in.next, m.call)
		}
	}
}

// say publishes that this rank is stuck at a segment. It does not write the same twice, so that others can read it.
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

// stuckAt encodes which segment of a ring a rank waits for, and in which call. It stays true until the other rank has
// done its part, which that rank knows, so nobody needs to clear it.
func stuckAt(segment uint32, fingerprint uint64) uint64 {
	return uint64(segment)<<32 | uint64(uint32(fingerprint))
}

// disagreement compares the calls of the messages that this rank waits for with those of the other ranks.
func (e *Endpoint) disagreement() error {
	for i := range e.out {
		if m := &e.out[i]; m.inTurn() && !m.Idle {
			if err := e.explain(m.link, m.call.Call); err != nil {
				return err
			}
		}
	}
	for i := range e.in {
		if m := &e.in[i]; m.inTurn() && !m.Idle {
			if err := e.explain(m.link, m.call.Call); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain compares a call, in which this rank waits for l's peer, with the peer's counterpart, or else with the call
// that the peer is stuck in.
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
	found := *theirs // so that only a disagreement allocates
	return wire.Standoff(mine, &found, e.rank, l.peer, e.own.past(nil), l.control.past(nil))
}

// stuckIn returns the call that l's peer is stuck in until this rank sends it another segment, or takes one, if there
// is such a call. If this rank waits for the peer too, neither of them can ever proceed.
func (l *link) stuckIn() (wire.Call, bool) {
	if call, ok := l.out.head.receiver.in(l.out.next); ok {
		return call, true
	}
	return l.in.head.sender.in(l.in.next + depth)
}

// crossed returns an error if a rank that this Exchange only sent to has sent something too, in a different version of
// the same call: both ranks take themselves for the root. At least the later of the two sees it.
func (e *Endpoint) crossed(sends []wire.Send) error {
	for i := range sends {
		l := &e.links[sends[i].Peer]
		next := &l.in.head.lines[l.in.next%depth]
		if next.seq.Load() != l.in.next+1 { // as for most
			continue
		}
		mine := e.current.Of(sends[i].Call)
		if next.fingerprint == mine.Fingerprint {
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
