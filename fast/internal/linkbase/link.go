package linkbase

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Link is what a rank has of its link to another rank, whatever carries it.
type Link struct {
	Peer    int
	Partner linkproto.Partner // what the ranks tell each other besides
	Verdict error             // the other rank's last word, or why it can no more be reached; it comes after all messages

	givenUp atomic.Bool

	Sent, Received uint64 // messages that have been sent and received on this link, in all Exchanges

	sends       []Outgoing // those of the Exchange in progress, in order
	recvs       []Incoming
	sent, taken int // how many of them are complete
}

// Sending returns the send whose turn it is, or nil.
func (l *Link) Sending() *Outgoing {
	if l.sent == len(l.sends) {
		return nil
	}
	return &l.sends[l.sent]
}

// Receiving returns the receive whose turn it is, or nil.
func (l *Link) Receiving() *Incoming {
	if l.taken == len(l.recvs) {
		return nil
	}
	return &l.recvs[l.taken]
}

// ReceivesLast reports whether no receive comes after the one whose turn it is.
func (l *Link) ReceivesLast() bool { return l.taken == len(l.recvs)-1 }

// Fail has l end, for that reason if there is none before.
func (l *Link) Fail(verdict error) {
	if l.Verdict == nil {
		l.Verdict = verdict
	}
}

// Died returns the error of a rank that has ended, or may as well have.
func (l *Link) Died(format string, args ...any) error {
	return &wire.PeerError{Rank: l.Peer, Err: fmt.Errorf("%w: "+format, append([]any{wire.ErrDied}, args...)...)}
}

// sendOf returns the send from the memory of r, if r is marked AfterSend and there is one.
func (l *Link) sendOf(r *wire.Recv) *Outgoing {
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

// clear ends the Exchange, complete or not.
func (l *Link) clear() {
	clear(l.sends)
	clear(l.recvs)
	l.sends, l.recvs, l.sent, l.taken = l.sends[:0], l.recvs[:0], 0, 0
}
