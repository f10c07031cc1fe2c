package linkbase

import (
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// CheckSegment returns an error if a segment with header h is not the next one of m, the receive in turn on l, of which
// that many bytes are missing. If the call or the length differs, the sender will learn of it too.
func (e *Endpoint) CheckSegment(l *Link, m *Incoming, h linkproto.Header, missing int) error {
	switch {
	case h.Fingerprint != l.Partner.LastFingerprint:
		return l.PeerDied("it has sent a message of a call that it has not told")
	case h.Fingerprint != m.Mark.Fingerprint || h.Left != uint64(missing):
		expected := linkproto.Turn{Call: m.Mark.Call, Fingerprint: m.Mark.Fingerprint}
		return l.Partner.Refuse(&e.History, expected, uint64(len(m.Into)), h.Fingerprint, uint64(m.At)+h.Left)
	}
	return nil
}

// HandleControl processes a frame that is not a message, as soon as it has arrived on l. It returns an error if the
// frame is invalid.
func (e *Endpoint) HandleControl(l *Link, h linkproto.Header, body []byte) error {
	switch h.Kind {
	case linkproto.Refused: // no Exchange succeeds any more
		err := l.Partner.ParseRefusal(body, &e.History)
		l.Fail(err)
		e.End.Break(err)
	case linkproto.Bye:
		l.Fail(&wire.PeerError{Rank: l.Peer, Err: wire.ErrClosed})
	default:
		return l.Partner.HandleReport(h, body)
	}
	return nil
}

// AppendReport appends frames that say what this rank waits for on l, unless that was reported before.
func (e *Endpoint) AppendReport(l *Link, b []byte) []byte {
	send, recv := l.turns()
	return l.Partner.AppendReport(b, &e.History, send, recv)
}

// FindDisagreement returns the error of calls that disagree, as far as other ranks have reported theirs, or nil. A rank
// that has stalled calls it.
func (e *Endpoint) FindDisagreement() error {
	for _, peer := range e.Active {
		l := e.links[peer]
		send, recv := l.turns()
		if err := l.Partner.FindDisagreement(&e.History, send, recv, l.Received, l.written()); err != nil {
			return err
		}
	}
	for _, l := range e.links { // a rank that waits for this one need not be one that this one waits for
		if err := l.Partner.FindContradiction(&e.History); err != nil {
			return err
		}
	}
	return nil
}

// written returns how many messages the peer has, or gets without this rank.
func (l *Link) written() uint64 {
	if m := l.Sending(); m != nil && m.Gone {
		return l.Sent + 1
	}
	return l.Sent
}

// turns returns the messages in turn on l. A rank does not wait for the peer to take a message that is gone: the peer
// may have done so, and be in its next call.
func (l *Link) turns() (send, recv linkproto.Turn) {
	if m := l.Sending(); m != nil && !m.Gone {
		send = linkproto.Turn{N: l.Sent, Call: m.Mark.Call, Fingerprint: m.Mark.Fingerprint, Idle: m.Idle}
	}
	if m := l.Receiving(); m != nil {
		recv = linkproto.Turn{N: l.Received, Call: m.Mark.Call, Fingerprint: m.Mark.Fingerprint, Idle: m.Idle}
	}
	return send, recv
}
