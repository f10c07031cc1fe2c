//go:build linux

package shm

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/fast/internal/wire"
)

// publish makes call readable for the other ranks until history more calls were begun.
func (c *control) publish(call *wire.Call, fingerprint uint64) {
	n := c.begun.Load()
	r := &c.calls[n%history]
	r.call, r.fingerprint = *call, fingerprint
	c.begun.Store(n + 1)
}

// lookup is a copy of c's call with that fingerprint. It is not there if more calls were begun since, or are being
// begun.
func (c *control) lookup(fingerprint uint64) (wire.Call, bool) {
	for i := range c.calls {
		if call, ok := c.calls[i].read(); ok && call.Fingerprint() == fingerprint {
			return call, true
		}
	}
	return wire.Call{}, false
}

// counterpart is a copy of c's call that is to agree with call, if it was begun and is still there.
func (c *control) counterpart(call *wire.Call) (wire.Call, bool) {
	for i := range c.calls {
		if theirs, ok := c.calls[i].read(); ok && theirs.Meets(call) {
			return theirs, true
		}
	}
	return wire.Call{}, false
}

// current is a copy of the call that c's rank began last.
func (c *control) current() (wire.Call, bool) { return c.calls[(c.begun.Load()-1)%history].read() }

// read is a copy of the call in r, if that is a whole one.
func (r *record) read() (wire.Call, bool) {
	fingerprint, call := r.fingerprint, r.call
	return call, fingerprint == call.Fingerprint()
}

// refuse is the error of a message that is not the one that m waits for: the sender's call, or the message's length,
// differs. The sender learns of it when this rank gives up.
func (e *Endpoint) refuse(m *incoming, fingerprint uint64, theirs uint32) error {
	e.blame(m.Peer, fingerprint)
	if fingerprint != e.fingerprint {
		return e.mismatch(m.Peer, fingerprint)
	}
	return &wire.MismatchError{Rank: m.Peer, Seq: e.call.Seq, Field: "message length",
		Mine: fmt.Sprint(len(m.Into), " bytes"), Theirs: lengthWords(m.at, theirs)}
}

// blame has peer learn, when this rank gives up, that its call of that fingerprint is the reason.
func (e *Endpoint) blame(peer int, fingerprint uint64) {
	e.own.refused.Store(fingerprint)
	e.own.refuser.Store(uint32(peer) + 1)
}

// mismatch compares this rank's call with peer's of that fingerprint, which is another.
func (e *Endpoint) mismatch(peer int, fingerprint uint64) error {
	if theirs, ok := e.mem.control(peer).lookup(fingerprint); ok {
		if err := wire.Mismatch(e.call, &theirs, peer); err != nil {
			return err
		}
	}
	return &wire.MismatchError{Rank: peer, Seq: e.call.Seq, Field: "fingerprint",
		Mine: fmt.Sprintf("%#x", e.fingerprint), Theirs: fmt.Sprintf("%#x", fingerprint)}
}

// refusal is the error of this rank if peer gave up because a message of this rank did not match, and otherwise nil.
func (e *Endpoint) refusal(peer int) error {
	c := e.mem.control(peer)
	if c.refuser.Load() != uint32(e.rank)+1 {
		return nil
	}
	mine, found := e.own.lookup(c.refused.Load())
	theirs, whole := c.current()
	if !found || !whole {
		return nil
	}
	if err := wire.Mismatch(&mine, &theirs, peer); err != nil {
		return err
	}
	return nil
}

func lengthWords(before int, left uint32) string {
	if left == math.MaxUint32 {
		return "4 GiB or more"
	}
	return fmt.Sprint(uint64(before)+uint64(left), " bytes")
}
