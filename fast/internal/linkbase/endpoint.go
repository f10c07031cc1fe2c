// Package linkbase holds what the endpoints of tcp and rdma share: transports in which a rank has one link to each rank
// that it exchanges messages with. It keeps the messages of an Exchange in order on each link, drives them until all
// are complete, and records which ranks the endpoint waits for, what it learns about calls that disagree, and how it
// ends. Each transport moves the bytes: its Hooks say how.
package linkbase

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Endpoint is the part of a rank's endpoint that does not depend on what carries its links. Except for End, Changed,
// Moved, Waiting, Fail and Close, it belongs to the goroutine that is in the Exchange.
type Endpoint struct {
	Rank     int
	End      End
	History  linkproto.History // the latest calls
	Patience time.Duration     // how long the rank polls before it sleeps
	Changed  atomic.Bool       // another goroutine has left something for Hooks.Adopt

	Peers  []int // the ranks that have messages in this Exchange
	Active []int // those of them whose messages are not all complete
	Open   int   // how many messages are not complete
	Lent   int   // how many received messages are lent to the caller

	hooks    Hooks
	yields   func() bool // see YieldWhile; nil: never
	links    []*Link     // by rank; the entry of this rank is unused
	call     wire.Mark
	until    context.Context // of the Progress that runs; nil: none does
	nudged   atomic.Bool     // Nudge was called
	idle     time.Time       // since when nothing could be done; zero after progress
	moves    uint64          // how often something was sent or received
	progress atomic.Uint64   // moves, as last published to other goroutines
	awaited  Awaited
}

// Hooks are what a transport does in an Exchange. The goroutine in the Exchange calls all of them, except that any
// goroutine may call Wake and, once the endpoint is closed and idle, Release. Poll, Arm and Reclaim may be nil.
type Hooks struct {
	// Connect asks for the link to peer, if there is none and it was not asked for. It does not block.
	Connect func(peer int)
	// Adopt takes over the links that other goroutines have made.
	Adopt func() error
	// Poll collects what the device has completed. It runs before each round of Push and Pull.
	Poll func() error
	// Push sends what can be sent to peer without waiting, and reports whether that was anything.
	Push func(peer int) (moved bool, err error)
	// Pull takes what has arrived from peer, and reports whether that was anything.
	Pull func(peer int) (moved bool, err error)
	// Spin prepares the next round after one without progress. The rank has been idle for that long.
	Spin func(idle time.Duration)
	// Arm makes the next Sleep end when something arrives from now on.
	Arm func() error
	// Sleep waits until something can be done, a Wake, or the end of the time.
	Sleep func(atMost time.Duration) error
	// Stalled tells other ranks what this one has waited for in vain. It returns the error of calls that disagree, if
	// it finds any.
	Stalled func() error
	// Abort cleans up after an Exchange that failed: after it, nothing reads or writes the caller's memory.
	Abort func()
	// Reclaim takes back what the last Exchange lent.
	Reclaim func()
	// Wake ends the Sleep in progress, or the next one.
	Wake func()
	// Release says goodbye on all links and gives everything back.
	Release func()
}

// Init makes e the endpoint of rank, with one link for each rank of the communicator.
func (e *Endpoint) Init(rank int, links []*Link, hooks Hooks) {
	e.Rank, e.links, e.hooks, e.call = rank, links, hooks, wire.NewMark(new(wire.Call))
	e.End.released = make(chan struct{})
	for peer, l := range links {
		l.Peer, l.Partner.Self, l.Partner.Rank = peer, rank, peer
	}
}

// YieldWhile has the rank sleep without polling while f returns true.
func (e *Endpoint) YieldWhile(f func() bool) { e.yields = f }

// Begin sets the call that the following messages belong to.
func (e *Endpoint) Begin(call wire.Mark) {
	e.call = call
	e.History.Begin(call.Call)
}

// post lists the messages of an Exchange, or more that are posted.
func (e *Endpoint) post(sends []wire.Send, recvs []wire.Recv) error {
	e.idle = time.Time{}
	if err := e.End.Reason(); err != nil {
		return err
	}
	for i := range sends {
		m := &sends[i]
		l, err := e.linkTo(m.Peer)
		if err != nil {
			return err
		}
		l.sends = append(l.sends, Outgoing{Send: m, Mark: e.call.Of(m.Call)})
		e.Open++
	}
	for i := range recvs {
		m := &recvs[i]
		l, err := e.linkTo(m.Peer)
		if err != nil {
			return err
		}
		l.recvs = append(l.recvs, Incoming{Recv: m, Mark: e.call.Of(m.Call), After: l.sendOf(m)})
		e.Open++
	}
	return nil
}

// linkTo returns the link to peer, and adds peer to those that have messages in this Exchange.
func (e *Endpoint) linkTo(peer int) (*Link, error) {
	if err := wire.CheckPeer(e.Rank, peer, len(e.links)); err != nil {
		return nil, err
	}
	l := e.links[peer]
	if l.Sending() == nil && l.Receiving() == nil {
		e.Peers, e.Active = append(e.Peers, peer), append(e.Active, peer)
	}
	return l, nil
}

// CompleteSend completes the send in turn on l.
func (e *Endpoint) CompleteSend(l *Link) {
	l.sent++
	l.Sent++
	e.Open--
}

// CompleteReceive completes the receive in turn on l.
func (e *Endpoint) CompleteReceive(l *Link) {
	l.taken++
	l.Received++
	e.Open--
}

// next returns the index in Active of the link to visit after that of index i. A link leaves Active when its messages
// are complete.
func (e *Endpoint) next(i int) int {
	if l := e.links[e.Active[i]]; l.Sending() != nil || l.Receiving() != nil {
		return i + 1
	}
	last := len(e.Active) - 1
	e.Active[i], e.Active = e.Active[last], e.Active[:last]
	return i
}

// failure returns why the Exchange cannot go on: the endpoint has failed, or ctx has ended.
func (e *Endpoint) failure(ctx context.Context) error {
	if err := e.End.Reason(); err != nil || ctx.Err() == nil {
		return err
	}
	return wire.Timeout(ctx, slices.Sorted(slices.Values(e.Active)))
}

// clear ends the Exchange, complete or not, and the use of the caller's memory.
func (e *Endpoint) clear() {
	if e.Open == 0 {
		e.awaited.Clear()
	} else {
		e.awaited.Set(e.Active)
	}
	for _, peer := range e.Peers {
		e.links[peer].clear()
	}
	e.Peers, e.Active, e.Open = e.Peers[:0], e.Active[:0], 0
}

// Moved returns a number that grows as this rank sends and receives. It may lag by some messages while the rank makes
// progress, and is exact while it waits. It may be called from any goroutine.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// Waiting returns, in ascending order, the ranks that the Exchange in progress has been waiting for for a while, or
// that the last one was waiting for when it failed. It may be called from any goroutine.
func (e *Endpoint) Waiting() []int { return e.awaited.Ranks() }
