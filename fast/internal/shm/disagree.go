//go:build linux

package shm

import "github.com/collgen/collgen/fast/internal/wire"

// Ranks whose calls do not match may wait for each other without a message that would tell: two roots that both receive,
// or a rank whose call has no messages. A rank whose sleep was in vain looks for that in what the others have published.

// inVain is what a rank finds out after a nap that nothing has ended: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	e.sayStuck()
	e.awaited.tell(e.waiting())
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
		if m := &e.out[i]; !m.done {
			r := &m.link.out
			r.head.sender.Store(stuckAt(r.next, e.fingerprint))
		}
	}
	for i := range e.in {
		if m := &e.in[i]; !m.done {
			r := &m.link.in
			r.head.receiver.Store(stuckAt(r.next, e.fingerprint))
		}
	}
}

// stuckAt says for which segment of a ring a rank waits, and in which call. That stays true until the other rank has done
// its part, which the other rank knows: nobody needs to take it back.
func stuckAt(segment uint32, fingerprint uint64) uint64 {
	return uint64(segment)<<32 | uint64(uint32(fingerprint))
}

// disagreement compares this rank's call with those of the ranks that it waits for.
func (e *Endpoint) disagreement() error {
	for i := range e.out {
		if m := &e.out[i]; !m.done {
			if err := e.explain(m.link); err != nil {
				return err
			}
		}
	}
	for i := range e.in {
		if m := &e.in[i]; !m.done {
			if err := e.explain(m.link); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain compares this rank's call with the one of l's peer that is to agree with it, or with the one that the peer is
// stuck in. This rank waits for the peer.
func (e *Endpoint) explain(l *link) error {
	theirs, ok := l.control.counterpart(e.call)
	if !ok {
		if theirs, ok = l.stuckIn(); !ok {
			return nil
		}
	}
	return e.compare(l.peer, &theirs)
}

// compare compares this rank's call with peer's, which is to be the same.
func (e *Endpoint) compare(peer int, theirs *wire.Call) error {
	if err := wire.Mismatch(e.call, theirs, peer); err != nil {
		e.blame(peer, theirs.Fingerprint())
		return err
	}
	return nil
}

// stuckIn is the call of l's peer if the peer can only go on in it after this rank has sent it a segment that it has not
// sent yet, or has taken one that it has not taken. If this rank waits for the peer too, neither of them ever goes on.
func (l *link) stuckIn() (wire.Call, bool) {
	call, ok := l.control.current()
	fingerprint := call.Fingerprint()
	receives := l.out.head.receiver.Load() == stuckAt(l.out.next, fingerprint)
	sends := l.in.head.sender.Load() == stuckAt(l.in.next+slots, fingerprint)
	return call, ok && (receives || sends)
}

// crossed is the error of an Exchange that only sent, to a rank that has sent something too, in another version of the
// same call: two ranks that both take themselves for the root. Of two such ranks at least the later one sees it.
func (e *Endpoint) crossed() error {
	for i := range e.out {
		l := e.out[i].link
		next := &l.in.head.lines[l.in.next%slots]
		if next.seq.Load() != l.in.next+1 || next.fingerprint == e.fingerprint {
			continue
		}
		if theirs, ok := l.control.counterpart(e.call); ok {
			if err := e.compare(l.peer, &theirs); err != nil {
				return err
			}
		}
	}
	return nil
}
