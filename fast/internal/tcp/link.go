package tcp

import (
	"fmt"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// link is one rank's end of a connection to another rank.
type link struct {
	peer   int
	socket Socket // nil: there is none yet, or it was closed
	asked  bool   // for a connection

	out output
	in  input

	sends        []outgoing // those of the Exchange in progress, in order
	recvs        []incoming
	sent, taken  int    // how many of them are complete
	sentEver     uint64 // messages that have been sent on this link
	receivedEver uint64 // and received

	lack    error // why no connection can be had, as far as is known
	verdict error // the other rank's last word, which comes after all messages

	partner talk.Partner // what the ranks tell each other besides

	trail *events.Trail
}

// outgoing is a send of an Exchange in progress.
type outgoing struct {
	*wire.Send
	call        *wire.Call
	fingerprint uint64
	at          int  // bytes that were sent
	begun       bool // its first header was made
}

// incoming is a receive of an Exchange in progress.
type incoming struct {
	*wire.Recv
	call        *wire.Call
	fingerprint uint64
	after       *outgoing // of a receive marked AfterSend: the send of the same memory
	at          int       // bytes that are in place
	begun       bool      // its first header has come
}

// sending is the send whose turn it is, or nil.
func (l *link) sending() *outgoing {
	if l.sent == len(l.sends) {
		return nil
	}
	return &l.sends[l.sent]
}

// receiving is the receive whose turn it is, or nil.
func (l *link) receiving() *incoming {
	if l.taken == len(l.recvs) {
		return nil
	}
	return &l.recvs[l.taken]
}

// sendOf is the send from the memory of r, if r is marked AfterSend and there is one.
func (l *link) sendOf(r *wire.Recv) *outgoing {
	if !r.AfterSend || len(r.Into) == 0 {
		return nil
	}
	for i := range l.sends {
		if s := &l.sends[i]; unsafe.SliceData(s.Data) == unsafe.SliceData(r.Into) {
			return s
		}
	}
	return nil
}

// forget ends the Exchange, complete or not.
func (l *link) forget() {
	clear(l.sends)
	clear(l.recvs)
	l.sends, l.recvs, l.sent, l.taken = l.sends[:0], l.recvs[:0], 0, 0
}

// end is the error of a message that can no more be completed, because the link has ended.
func (l *link) end() error {
	switch {
	case l.verdict != nil:
		return l.verdict
	case l.in.over != nil:
		return l.died("the link broke: %w", l.in.over)
	}
	return l.died("the link broke: %w", l.out.over)
}

// died is the error of a rank that has ended, or may as well have.
func (l *link) died(format string, args ...any) error {
	return &wire.PeerError{Rank: l.peer, Err: fmt.Errorf("%w: "+format, append([]any{wire.ErrDied}, args...)...)}
}
