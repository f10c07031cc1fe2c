package linkproto

import "github.com/collgen/collgen/fast/internal/wire"

// FindDisagreement compares the calls of the messages that this rank waits for with the other rank's. It returns the
// error of calls that disagree, or nil. own are the calls that this rank has begun; received and sent count the
// messages on the link.
func (p *Partner) FindDisagreement(own *History, send, recv Turn, received, sent uint64) error {
	if send.waits() {
		// A rank that is stuck sending waits until this one has received, which it has not begun to do.
		stuck := recv.Call == nil && p.stuckSending.isAt(received)
		if err := p.compare(own, send.Call, &p.stuckSending.call, stuck); err != nil {
			return err
		}
	}
	if recv.waits() {
		stuck := send.Call == nil && p.stuckReceiving.isAt(sent)
		return p.compare(own, recv.Call, &p.stuckReceiving.call, stuck)
	}
	return nil
}

// compare compares mine with the call of the other rank that should agree with it. If there is none, but the other rank
// is stuck in theirs while this rank waits for it, neither of them can ever proceed. Then theirs is compared with the
// call of own that should agree with it, or else with mine.
func (p *Partner) compare(own *History, mine, theirs *wire.Call, stuck bool) error {
	if counterpart := p.counterpart(mine); counterpart != nil {
		return p.checkSame(own, mine, counterpart)
	}
	if !stuck {
		return nil
	}
	if counterpart := wire.Counterpart(own.Calls(), theirs); counterpart != nil {
		mine = counterpart
	}
	return p.checkSame(own, mine, theirs)
}

// counterpart returns the call that the other rank has reported, or named with its messages, and that has to agree with
// mine, or nil.
func (p *Partner) counterpart(mine *wire.Call) *wire.Call {
	if theirs := wire.Counterpart(p.past, mine); theirs != nil {
		return theirs
	}
	if p.LastFingerprint != 0 && p.LastCall.Meets(mine) {
		return &p.LastCall
	}
	return nil
}

// FindContradiction returns the error of a call that the other rank has reported, and that differs from the call of own
// that should agree with it.
func (p *Partner) FindContradiction(own *History) error {
	calls := own.Calls()
	for i := range calls {
		if theirs := p.counterpart(&calls[i]); theirs != nil {
			if err := p.checkSame(own, &calls[i], theirs); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSame returns the error of two calls that should be the same, or nil if they are. On an error it also prepares
// the Refusal for the other rank.
func (p *Partner) checkSame(own *History, mine, theirs *wire.Call) error {
	if wire.Mismatch(mine, theirs, p.Rank) == nil {
		return nil // the hashes of the calls before them are the same, so those calls agree too
	}
	if err := wire.Standoff(mine, theirs, p.Self, p.Rank, own.Calls(), p.past); err != nil {
		p.Refusal = (&refused{sent: *theirs, expected: *mine}).append(nil)
		return err
	}
	return nil
}
