//go:build linux

package shm

import (
	"fmt"
	"math"

	"github.com/collgen/collgen/fast/internal/wire"
)

// publish makes the call in progress readable for the other ranks, until history more calls have begun. This rank holds
// the guard.
func (e *Endpoint) publish() {
	if e.published {
		return
	}
	e.own.calls[e.begun%history].write(e.current)
	e.begun++
	e.published = true
}

// lookup returns a copy of the call with that fingerprint that c's rank began, or whose message it put into ring r. It
// finds none if too many calls have begun since, or while one is being written.
func (c *control) lookup(r *ring, fingerprint uint64) (wire.Call, bool) {
	for _, records := range [][]record{r.head.calls[:], c.calls[:]} {
		for i := range records {
			if call, ok := records[i].read(); ok && call.Fingerprint() == fingerprint {
				return call, true
			}
		}
	}
	return wire.Call{}, false
}

// past appends copies of the latest calls of c's rank to calls.
func (c *control) past(calls []wire.Call) []wire.Call {
	for i := range c.calls {
		if call, ok := c.calls[i].read(); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// read returns a copy of the call in r, and reports whether the copy is consistent.
func (r *record) read() (wire.Call, bool) {
	fingerprint, call := r.fingerprint, r.call
	return call, fingerprint == call.Fingerprint()
}

// write records a call in r.
func (r *record) write(call wire.Mark) { r.call, r.fingerprint = *call.Call, call.Fingerprint }

// refuse returns the error of a message whose call or length differs from what m expects.
func (e *Endpoint) refuse(m *incoming, fingerprint uint64, left uint32) error {
	if fingerprint != m.call.Fingerprint {
		return e.mismatch(m, fingerprint)
	}
	err := wire.LengthMismatch(m.call.Call, m.Peer, uint64(len(m.Into)), uint64(m.at)+uint64(left))
	if left == math.MaxUint32 {
		err.Theirs = "4 GiB or more"
	}
	return err
}

// mismatch returns the error of a message of another call than m's: the sender's call with that fingerprint.
func (e *Endpoint) mismatch(m *incoming, fingerprint uint64) error {
	if theirs, ok := m.link.control.lookup(&m.link.in, fingerprint); ok {
		if err := wire.Explain(m.call.Call, &theirs, m.Peer, e.own.past(nil), m.link.control.past(nil)); err != nil {
			return err
		}
	}
	return &wire.MismatchError{Rank: m.Peer, Seq: m.call.Call.Seq, TheirSeq: m.call.Call.Seq, Field: "fingerprint",
		Mine: fmt.Sprintf("%#x", m.call.Fingerprint), Theirs: fmt.Sprintf("%#x", fingerprint)}
}
