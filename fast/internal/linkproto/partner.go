package linkproto

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Ranks whose calls do not match may wait for each other without a message that would tell: two roots that both
// receive, or both send more than a connection holds, or a rank whose call has no messages. A rank that has waited in
// vain says to those that it waits for what it waits for, and which calls it has begun, and compares its own with what
// any rank has said.

// Partner is what a rank has told the other rank of a link, and has heard of it.
type Partner struct {
	Self    int       // this rank
	Rank    int       // the other one
	Told    wire.Call // the call that it has told last with its messages
	Known   uint64    // the fingerprint of Told; 0: none was told
	Refusal []byte    // a frame that the other rank is to be told when the Exchange has failed: its message did not match

	due             bool   // there is something to say
	begun           uint64 // of how many calls the other rank was told that this one has begun them
	sends, receives uint64 // numbers of the messages that it was told this rank waits for, plus 1

	past         []wire.Call // calls that it has begun, the last ones
	stuckSending heard       // for which messages it has waited in vain last
	stuckTaking  heard
}

// heard is what the other rank has said that it waits for, if it has.
type heard struct {
	waiting
	said bool
}

// Turn is the message whose turn it is on a link, in one direction; without a Call there is none.
type Turn struct {
	N           uint64 // its number on the link
	Call        *wire.Call
	Fingerprint uint64
}

// Wonder has it due that this rank says what it waits for.
func (p *Partner) Wonder() { p.due = true }

// Due reports whether Speak is to be called.
func (p *Partner) Due() bool { return p.due }

// Speak appends frames that say which calls this rank has begun, and which messages it waits for, as far as that was
// not said.
func (p *Partner) Speak(b []byte, own *History, send, recv Turn) []byte {
	p.due = false
	if own.begun > Kept {
		p.begun = max(p.begun, own.begun-Kept)
	}
	for ; p.begun < own.begun; p.begun++ {
		c := &own.calls[p.begun%Kept]
		b = AppendTold(b, Past, c, c.Fingerprint())
	}
	if send.Call != nil && p.sends != send.N+1 {
		p.sends = send.N + 1
		b = (&waiting{true, send.N, *send.Call}).append(b, send.Fingerprint)
	}
	if recv.Call != nil && p.receives != recv.N+1 {
		p.receives = recv.N + 1
		b = (&waiting{false, recv.N, *recv.Call}).append(b, recv.Fingerprint)
	}
	return b
}

// errCorrupt is the error of a call that is not the one of its frame.
var errCorrupt = errors.New("it has sent a call that is corrupt")

// Tell takes note of a frame of kind Call when the messages before it were received.
func (p *Partner) Tell(h Header, body []byte) error {
	p.Told, p.Known = ParseCall(body), h.Fingerprint
	return h.check(&p.Told)
}

func (h Header) check(c *wire.Call) error {
	if c.Fingerprint() != h.Fingerprint {
		return errCorrupt
	}
	return nil
}

// Note takes note of a frame of kind Call, Past or Waiting, which can be understood before the messages that it came
// after were received.
func (p *Partner) Note(h Header, body []byte) error {
	if h.Kind != Waiting {
		c := ParseCall(body)
		p.remember(&c)
		return h.check(&c)
	}
	w := parseWaiting(body)
	if w.sends {
		p.stuckSending = heard{w, true}
	} else {
		p.stuckTaking = heard{w, true}
	}
	return h.check(&w.call)
}

// remember keeps c, and forgets what came long before it.
func (p *Partner) remember(c *wire.Call) {
	switch len(p.past) {
	case 0:
		p.past = make([]wire.Call, 0, Kept)
	case Kept:
		p.past = p.past[:copy(p.past, p.past[1:])]
	}
	p.past = append(p.past, *c)
}

// Refused returns the error of which the body of a frame of kind Refused tells: a message of this rank did not match.
func (p *Partner) Refused(body []byte, own *History) error {
	r := parseRefused(body)
	return p.mismatch(own, &r.sent, &r.expected, r.sentBytes, r.expectedBytes)
}

// Refuse returns the error of a message of so many bytes that is not the one in turn, of that many: its call or its
// length differs. The other rank is to learn of it too.
func (p *Partner) Refuse(own *History, expected Turn, expectedBytes uint64, fingerprint, sentBytes uint64) error {
	r := refused{expected: *expected.Call, sent: *expected.Call, expectedBytes: expectedBytes, sentBytes: sentBytes}
	if fingerprint != expected.Fingerprint {
		r.sent = p.Told
	}
	p.Refusal = r.append(nil)
	return p.mismatch(own, &r.expected, &r.sent, r.expectedBytes, r.sentBytes)
}

// mismatch returns the error of calls that are not the same; or, if they are, of a message of another length.
func (p *Partner) mismatch(own *History, mine, theirs *wire.Call, mineBytes, theirsBytes uint64) error {
	if err := wire.Standoff(mine, theirs, p.Self, p.Rank, own.Calls(), p.past); err != nil {
		return err
	}
	return &wire.MismatchError{Rank: p.Rank, Seq: mine.Seq, TheirSeq: mine.Seq, Field: "message length",
		Mine: fmt.Sprint(mineBytes, " bytes"), Theirs: fmt.Sprint(theirsBytes, " bytes")}
}
