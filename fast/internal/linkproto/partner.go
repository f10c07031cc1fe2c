// Package linkproto is what the two ranks of a link tell each other besides the bytes of their messages: the calls that
// messages belong to, the calls that a rank has begun, what a stalled rank waits for, that a message does not match,
// and a goodbye. Transports whose links carry frames share it, so that ranks whose calls disagree find out in the same
// way over all of them.
package linkproto

import (
	"errors"

	"github.com/collgen/collgen/fast/internal/wire"
)

// HistorySize is how many of its latest calls a rank remembers, and can report to other ranks.
const HistorySize = 16

// History is the latest calls that a rank has begun.
type History struct {
	calls [HistorySize]wire.Call
	begun uint64
}

// Begin adds c.
func (h *History) Begin(c *wire.Call) {
	h.calls[h.begun%HistorySize] = *c
	h.begun++
}

// Begun returns how many calls were begun.
func (h *History) Begun() uint64 { return h.begun }

// Calls returns the calls that are still known, in no particular order.
func (h *History) Calls() []wire.Call { return h.calls[:min(h.begun, HistorySize)] }

// Ranks whose calls do not match may wait for each other without any message that would show it. Two roots may both
// receive, or both send more than a connection holds, or one rank's call may have no messages at all. So a rank that
// has stalled reports, to the ranks that it waits for, what it waits for and which calls it has begun. It compares its
// own calls with what any rank has reported.

// Partner is what a rank has told the other rank of a link, and has heard from it.
type Partner struct {
	Self            int       // this rank
	Rank            int       // the other rank
	LastCall        wire.Call // the call that the other rank has told last with its messages
	LastFingerprint uint64    // the fingerprint of LastCall; 0 if there is none
	Refusal         []byte    // a frame for the other rank, whose message did not match, once the Exchange has failed

	due             bool   // a report is due
	begun           uint64 // how many of this rank's calls were reported
	sends, receives uint64 // numbers of the messages that this rank was last reported to wait for, plus 1

	past           []wire.Call // the latest calls that the other rank has reported
	stuckSending   report      // the message that it has last reported to wait for, in each direction
	stuckReceiving report
}

// report is what the other rank has reported to wait for, if it has.
type report struct {
	waiting
	valid bool
}

// isAt reports whether the other rank has reported that it waits for message n.
func (r *report) isAt(n uint64) bool { return r.valid && r.n == n }

// Turn is the message in turn on a link, in one direction. Without a Call there is none.
type Turn struct {
	N           uint64 // its number on the link
	Call        *wire.Call
	Fingerprint uint64
	Idle        bool // the rank does not wait for it: see wire.Posted
}

// waits reports whether there is such a message, and the rank waits for it.
func (t *Turn) waits() bool { return t.Call != nil && !t.Idle }

// RequestReport makes a report of what this rank waits for due.
func (p *Partner) RequestReport() { p.due = true }

// ReportDue reports whether AppendReport has to be called.
func (p *Partner) ReportDue() bool { return p.due }

// AppendReport appends frames that say which calls this rank has begun, and which messages it waits for. It leaves out
// what was reported before.
func (p *Partner) AppendReport(b []byte, own *History, send, recv Turn) []byte {
	p.due = false
	if own.begun > HistorySize {
		p.begun = max(p.begun, own.begun-HistorySize)
	}
	for ; p.begun < own.begun; p.begun++ {
		c := &own.calls[p.begun%HistorySize]
		b = AppendCallFrame(b, Past, c, c.Fingerprint())
	}
	if send.waits() && p.sends != send.N+1 {
		p.sends = send.N + 1
		b = (&waiting{true, send.N, *send.Call}).append(b, send.Fingerprint)
	}
	if recv.waits() && p.receives != recv.N+1 {
		p.receives = recv.N + 1
		b = (&waiting{false, recv.N, *recv.Call}).append(b, recv.Fingerprint)
	}
	return b
}

// errCorrupt is the error of a frame whose call does not have its fingerprint.
var errCorrupt = errors.New("it has sent a call that is corrupt")

// SetCall processes a frame of kind Call. The messages before it have been received.
func (p *Partner) SetCall(h Header, body []byte) error {
	p.LastCall, p.LastFingerprint = ParseCall(body), h.Fingerprint
	return h.check(&p.LastCall)
}

func (h Header) check(c *wire.Call) error {
	if c.Fingerprint() != h.Fingerprint {
		return errCorrupt
	}
	return nil
}

// HandleReport processes a frame of kind Call, Past or Waiting, possibly before the messages that precede it were
// received.
func (p *Partner) HandleReport(h Header, body []byte) error {
	if h.Kind != Waiting {
		c := ParseCall(body)
		p.remember(&c)
		return h.check(&c)
	}
	w := parseWaiting(body)
	if w.sends {
		p.stuckSending = report{w, true}
	} else {
		p.stuckReceiving = report{w, true}
	}
	return h.check(&w.call)
}

// remember adds c to past, and drops the oldest call if there are too many.
func (p *Partner) remember(c *wire.Call) {
	switch len(p.past) {
	case 0:
		p.past = make([]wire.Call, 0, HistorySize)
	case HistorySize:
		p.past = p.past[:copy(p.past, p.past[1:])]
	}
	p.past = append(p.past, *c)
}

// ParseRefusal returns the error in the body of a frame of kind Refused: a message of this rank did not match.
func (p *Partner) ParseRefusal(body []byte, own *History) error {
	r := parseRefused(body)
	return p.mismatch(own, &r.sent, &r.expected, r.sentBytes, r.expectedBytes)
}

// Refuse returns the error of a message of sentBytes that is not the expected one, because its call or its length
// differs. It also prepares the Refusal for the other rank.
func (p *Partner) Refuse(own *History, expected Turn, expectedBytes uint64, fingerprint, sentBytes uint64) error {
	r := refused{expected: *expected.Call, sent: *expected.Call, expectedBytes: expectedBytes, sentBytes: sentBytes}
	if fingerprint != expected.Fingerprint {
		r.sent = p.LastCall
	}
	p.Refusal = r.append(nil)
	return p.mismatch(own, &r.expected, &r.sent, r.expectedBytes, r.sentBytes)
}

// mismatch returns the error of calls that differ or, if they do not, of a message of another length.
func (p *Partner) mismatch(own *History, mine, theirs *wire.Call, mineBytes, theirsBytes uint64) error {
	if err := wire.Standoff(mine, theirs, p.Self, p.Rank, own.Calls(), p.past); err != nil {
		return err
	}
	return wire.LengthMismatch(mine, p.Rank, mineBytes, theirsBytes)
}
