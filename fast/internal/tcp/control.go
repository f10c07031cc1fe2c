package tcp

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

// hear takes note of a frame that is not a message. at is where it stands in what has come on the link.
func (e *Endpoint) hear(l *link, h header, body []byte, at uint64) error {
	in := &l.in
	if h.kind == kindCall {
		in.told, in.known = parseCall(body), h.fingerprint
		return l.check(&in.told, h)
	}
	if at < in.scanned {
		return nil
	}
	return e.note(l, h, body)
}

// check is the error of a call that is not the one of its frame.
func (l *link) check(c *wire.Call, h header) error {
	if c.Fingerprint() != h.fingerprint {
		return l.died("it has sent a call that is corrupt")
	}
	return nil
}

// note takes note of a frame that can be understood before the messages that it came after were received.
func (e *Endpoint) note(l *link, h header, body []byte) error {
	switch h.kind {
	case kindCall, kindPast:
		c := parseCall(body)
		l.heard.remember(&c)
		return l.check(&c, h)
	case kindWaiting:
		w := parseWaiting(body)
		l.heard.hear(w)
		return l.check(&w.call, h)
	case kindRefused:
		r := parseRefused(body)
		e.refusedBy(l, e.mismatch(l, &r.sent, &r.expected, r.sentBytes, r.expectedBytes))
	case kindBye:
		if l.verdict == nil {
			l.verdict = &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
		}
	}
	return nil
}

// refusedBy takes note of the error of a message that another rank has refused: no Exchange succeeds any more.
func (e *Endpoint) refusedBy(l *link, err error) {
	if l.verdict == nil {
		l.verdict = err
	}
	if e.doom == nil {
		e.doom = err
	}
}

// mismatch is the error of calls that are not the same; or, if they are, of a message of another length.
func (e *Endpoint) mismatch(l *link, mine, theirs *wire.Call, mineBytes, theirsBytes uint64) error {
	if err := wire.Explain(mine, theirs, l.peer, e.past[:], l.heard.past); err != nil {
		return err
	}
	return &wire.MismatchError{Rank: l.peer, Seq: mine.Seq, TheirSeq: mine.Seq, Field: "message length",
		Mine: fmt.Sprint(mineBytes, " bytes"), Theirs: fmt.Sprint(theirsBytes, " bytes")}
}

// refuse is the error of a message that is not the one that m waits for: its call or its length differs. The sender learns
// of it too.
func (e *Endpoint) refuse(l *link, m *incoming, h header) error {
	r := refused{expected: *m.call, sent: *m.call, expectedBytes: uint64(len(m.Into)), sentBytes: uint64(m.at) + h.left}
	if h.fingerprint != m.fingerprint {
		r.sent = l.in.told
	}
	l.refusal = r.append(nil)
	return e.mismatch(l, &r.expected, &r.sent, r.expectedBytes, r.sentBytes)
}

// listen takes what has come on a link on which no message is expected, up to the next message.
func (e *Endpoint) listen(l *link) error {
	if in := &l.in; in.w-in.r < headerBytes+refusedBytes {
		in.fill(l.socket, listenBytes)
	}
	_, err := e.take(l, nil)
	return err
}

// listenBytes is how much of a message may be read before it is expected: it is copied later.
const listenBytes = 4 << 10

// stash is how much of messages that are not expected a rank reads that has waited in vain: more than sockets hold.
const stash = 16 << 20

// search reads all that has come on l, whatever it is, and looks for what the other rank says of itself.
func (e *Endpoint) search(l *link) {
	in := &l.in
	for in.grow(); in.fill(l.socket, stash); in.grow() {
	}
	if err := e.scan(l); err != nil && l.verdict == nil {
		l.verdict = err
	}
}

// grow makes room for more in the buffer, if there is little left of it.
func (in *input) grow() {
	if n := len(in.buf); n > 0 && n < stash && n-(in.w-in.r) < bufferBytes/2 {
		bigger := make([]byte, 2*n)
		in.r, in.w = 0, copy(bigger, in.buf[in.r:in.w])
		in.buf = bigger
	}
}

// scan looks at the frames in l's buffer that it has not looked at before, messages aside.
func (e *Endpoint) scan(l *link) error {
	in := &l.in
	for at := max(in.scanned, in.read+uint64(in.segment)); ; {
		in.scanned = at
		ahead := at - in.read
		if ahead+headerBytes > uint64(in.w-in.r) {
			return nil
		}
		rest := in.buf[in.r+int(ahead) : in.w]
		h, err := parseHeader(rest)
		if err != nil {
			return l.died("it has sent %w", err)
		}
		if h.kind != kindMessage {
			if len(rest) < headerBytes+h.bytes() {
				return nil
			}
			if err := e.note(l, h, rest[headerBytes:]); err != nil {
				return err
			}
		}
		at += headerBytes + uint64(h.bytes())
	}
}
