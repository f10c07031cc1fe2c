package linkbase

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Endpoint is what a rank has of all its links, whatever carries them: how it ends, and the messages of the Exchange in
// progress. But for End, Moved and Waiting it is of the goroutine that is in the Exchange.
type Endpoint struct {
	Rank    int
	End     End
	History linkproto.History // the calls begun last
	Touched []int             // the ranks of the links that have messages in this Exchange
	Active  []int             // those of them with messages that are not complete
	Open    int               // how many messages are not complete

	links    []*Link // by rank; its own is unused
	call     wire.Mark
	idle     time.Time     // since when nothing can be done; zero: something was done last
	moves    uint64        // how often something was sent or received
	progress atomic.Uint64 // moves, as far as others are to know
	awaited  awaited
}

// Init makes e that of rank, with a link for each of all ranks.
func (e *Endpoint) Init(rank int, links []*Link) {
	e.Rank, e.links, e.call = rank, links, wire.NewMark(new(wire.Call))
	e.End.released = make(chan struct{})
	for peer, l := range links {
		l.Peer, l.Partner.Self, l.Partner.Rank = peer, rank, peer
	}
}

// Begin says which call the following messages belong to.
func (e *Endpoint) Begin(call wire.Mark) {
	e.call = call
	e.History.Begin(call.Call)
}

// List begins an Exchange of these messages.
func (e *Endpoint) List(sends []wire.Send, recvs []wire.Recv) error {
	e.idle = time.Time{}
	if err := e.End.Reason(); err != nil {
		return err
	}
	for i := range sends {
		m := &sends[i]
		l, err := e.touch(m.Peer)
		if err != nil {
			return err
		}
		l.sends = append(l.sends, Outgoing{Send: m, Mark: e.call.Of(m.Call)})
		e.Open++
	}
	for i := range recvs {
		m := &recvs[i]
		l, err := e.touch(m.Peer)
		if err != nil {
			return err
		}
		l.recvs = append(l.recvs, Incoming{Recv: m, Mark: e.call.Of(m.Call), After: l.sendOf(m)})
		e.Open++
	}
	return nil
}

// touch returns the link to peer, which has messages in this Exchange.
func (e *Endpoint) touch(peer int) (*Link, error) {
	if err := wire.CheckPeer(e.Rank, peer, len(e.links)); err != nil {
		return nil, err
	}
	l := e.links[peer]
	if len(l.sends)+len(l.recvs) == 0 {
		e.Touched, e.Active = append(e.Touched, peer), append(e.Active, peer)
	}
	return l, nil
}

// Sent takes note that the send in turn on l is complete.
func (e *Endpoint) Sent(l *Link) {
	l.sent++
	l.Sent++
	e.Open--
}

// Received takes note that the receive in turn on l is complete.
func (e *Endpoint) Received(l *Link) {
	l.taken++
	l.Received++
	e.Open--
}

// Next returns the index in Active of the link to look at after that of index i, which leaves Active when its messages
// are complete.
func (e *Endpoint) Next(i int) int {
	if l := e.links[e.Active[i]]; l.Sending() != nil || l.Receiving() != nil {
		return i + 1
	}
	last := len(e.Active) - 1
	e.Active[i], e.Active = e.Active[last], e.Active[:last]
	return i
}

// Failure returns the reason to wait no longer, if there is one.
func (e *Endpoint) Failure(ctx context.Context) error {
	if err := e.End.Reason(); err != nil || ctx.Err() == nil {
		return err
	}
	return wire.Timeout(ctx, slices.Sorted(slices.Values(e.Active)))
}

// Clear ends the Exchange, complete or not, and the use of the caller's memory.
func (e *Endpoint) Clear() {
	if e.Open == 0 {
		e.awaited.forget()
	} else {
		e.awaited.set(e.Active)
	}
	for _, peer := range e.Touched {
		e.links[peer].clear()
	}
	e.Touched, e.Active, e.Open = e.Touched[:0], e.Active[:0], 0
}
