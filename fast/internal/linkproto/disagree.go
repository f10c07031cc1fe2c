package linkproto

import "github.com/collgen/collgen/fast/internal/wire"

// Disagreement compares the calls of the messages that are waited for with those of the other rank. own are calls that
// this rank has begun, taken and sent the messages that it has received and sent on the link.
func (p *Partner) Disagreement(own *History, send, recv Turn, taken, sent uint64) error {
	if send.Call != nil {
		// A rank that is stuck sending waits until this one has received, which it has not begun to do.
		stuck := recv.Call == nil && p.stuckSending.at(taken)
		if err := p.compare(own, send.Call, &p.stuckSending.call, stuck); err != nil {
			return err
		}
	}
	if recv.Call != nil {
		stuck := send.Call == nil && p.stuckTaking.at(sent)
		return p.compare(own, recv.Call, &p.stuckTaking.call, stuck)
	}
	return nil
}

// at reports whether the other rank has said that it waits for message n.
func (h *heard) at(n uint64) bool { return h.said && h.n == n }

// compare compares a call of this rank with the one of the other rank that is to agree with it. Otherwise, if the other
// rank is stuck in a call and this rank waits for it, neither of them ever goes on: that call is compared with the one
// of own that is to agree with it, or with mine.
func (p *Partner) compare(own *History, mine, theirs *wire.Call, stuck bool) error {
	for i := range p.past {
		if other := &p.past[i]; other.Meets(mine) {
			return p.differ(own, mine, other)
		}
	}
	if p.Known != 0 && p.Told.Meets(mine) {
		return p.differ(own, mine, &p.Told)
	}
	if !stuck {
		return nil
	}
	calls := own.Calls()
	for i := range calls {
		if calls[i].Meets(theirs) {
			mine = &calls[i]
		}
	}
	return p.differ(own, mine, theirs)
}

// Contradiction returns the error of a call that the other rank has begun, as far as it has said so, and that is not
// the same as the one of own that is to agree with it.
func (p *Partner) Contradiction(own *History) error {
	calls := own.Calls()
	for i := range calls {
		mine := &calls[i]
		if p.Known != 0 && p.Told.Meets(mine) && p.Known != mine.Fingerprint() {
			return p.differ(own, mine, &p.Told)
		}
		for j := range p.past {
			if theirs := &p.past[j]; theirs.Meets(mine) && theirs.Fingerprint() != mine.Fingerprint() {
				return p.differ(own, mine, theirs)
			}
		}
	}
	return nil
}

// differ returns the error of two calls that are to be the same, or nil if they are. The other rank learns of it too.
func (p *Partner) differ(own *History, mine, theirs *wire.Call) error {
	if wire.Mismatch(mine, theirs, p.Rank) == nil {
		return nil // their hashes of the calls before are the same, so those do not differ either
	}
	if err := wire.Standoff(mine, theirs, p.Self, p.Rank, own.Calls(), p.past); err != nil {
		p.Refusal = (&refused{sent: *theirs, expected: *mine}).append(nil)
		return err
	}
	return nil
}
