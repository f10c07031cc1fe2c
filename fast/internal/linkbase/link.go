package linkbase

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Link is a rank's end of its link to another rank, independent of what carries it.
type Link struct {
	Peer    int
	Partner linkproto.Partner // what the two ranks have told each other besides messages
	Err     error             // the peer's last word, or why it cannot be reached; earlier messages still count

	Sent, Received uint64 // messages sent and received on this link, in all Exchanges

	sends       []Outgoing // of the Exchange in progress, in order
	recvs       []Incoming
	sent, taken int         // how many of them are complete
	givenUp     atomic.Bool // nobody waits any more for what was sent to arrive
}

// Outgoing is a send of the Exchange in progress.
type Outgoing struct {
	*wire.Send
	Mark  wire.Mark
	At    int  // bytes that were sent
	Begun bool // its first segment was made
	Gone  bool // the peer gets all of it without this rank; only this rank's device has not said yet that it was sent
}

// Incoming is a receive of the Exchange in progress.
type Incoming struct {
	*wire.Recv
	Mark  wire.Mark
	After *Outgoing // of a receive marked AfterSend: the send of the same memory
	At    int       // bytes that are in place
	Begun bool      // its first segment has arrived
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

// ReceivesLast reports whether the receive in turn is the last one.
func (l *Link) ReceivesLast() bool { return l.taken == len(l.recvs)-1 }

// SendsLast reports whether the send in turn is the last one.
func (l *Link) SendsLast() bool { return l.sent == len(l.sends)-1 }

// Fits returns how many of the next n bytes of the message, which have arrived, may go to their place.
func (m *Incoming) Fits(n int) int {
	if m.After != nil {
		n = min(n, m.After.At-m.At)
	}
	if m.Kernel != nil && m.At+n < len(m.Into) {
		n -= n % wire.Segment
	}
	return n
}

// Apply copies or reduces data, the next part of the message, to its place.
func (m *Incoming) Apply(data []byte) { kernel.Apply(m.Recv, m.At, data) }

// Fail ends l with err, unless it has ended before.
func (l *Link) Fail(err error) {
	if l.Err == nil {
		l.Err = err
	}
}

// PeerDied returns the error of a peer that has died, or that cannot be told from a dead one.
func (l *Link) PeerDied(format string, args ...any) error {
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

// clear forgets the messages of the Exchange.
func (l *Link) clear() {
	clear(l.sends)
	clear(l.recvs)
	l.sends, l.recvs, l.sent, l.taken = l.sends[:0], l.recvs[:0], 0, 0
}
