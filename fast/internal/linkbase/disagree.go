package linkbase

import (
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Check returns the error of a segment with header h, if it is not the next one of m, the receive in turn on l, of
// which so many bytes are missing. The sender learns of it too if the call or the length differs.
func (e *Endpoint) Check(l *Link, m *Incoming, h linkproto.Header, missing int) error {
	switch {
	case h.Fingerprint != l.Partner.Known:
		return l.PeerDied("it has sent a message of a call that it has not told")
	case h.Fingerprint != m.Mark.Fingerprint || h.Left != uint64(missing):
		expected := linkproto.Turn{Call: m.Mark.Call, Fingerprint: m.Mark.Fingerprint}
		return l.Partner.Refuse(&e.History, expected, uint64(len(m.Into)), h.Fingerprint, uint64(m.At)+h.Left)
	}
	return nil
}

// Note takes note of a frame that is no message, as soon as it has come on l. The error is of one that cannot be
// understood.
func (e *Endpoint) Note(l *Link, h linkproto.Header, body []byte) error {
	switch h.Kind {
	case linkproto.Refused: // no Exchange succeeds any more
		err := l.Partner.Refused(body, &e.History)
		l.Fail(err)
		e.End.Break(err)
	case linkproto.Bye:
		l.Fail(&wire.PeerError{Rank: l.Peer, Err: wire.ErrClosed})
	default:
		return l.Partner.Note(h, body)
	}
	return nil
}

// Speak appends frames that say what this rank waits for on l, as far as that was not said.
func (e *Endpoint) Speak(l *Link, b []byte) []byte {
	send, recv := l.turns()
	return l.Partner.Speak(b, &e.History, send, recv)
}

// Disagreement returns what a rank finds out that has waited in vain: the error of calls that disagree, as far as the
// other ranks have spoken, or nil.
func (e *Endpoint) Disagreement() error {
	for _, peer := range e.Active {
		l := e.links[peer]
		send, recv := l.turns()
		if err := l.Partner.Disagreement(&e.History, send, recv, l.Received, l.Sent); err != nil {
			return err
		}
	}
	for _, l := range e.links { // who waits for this rank may be none that it waits for itself
		if err := l.Partner.Contradiction(&e.History); err != nil {
			return err
		}
	}
	return nil
}

// turns returns the messages in turn on l.
func (l *Link) turns() (send, recv linkproto.Turn) {
	if m := l.Sending(); m != nil {
		send = linkproto.Turn{N: l.Sent, Call: m.Mark.Call, Fingerprint: m.Mark.Fingerprint}
	}
	if m := l.Receiving(); m != nil {
		recv = linkproto.Turn{N: l.Received, Call: m.Mark.Call, Fingerprint: m.Mark.Fingerprint}
	}
	return send, recv
}
