package inproc

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// network is what the endpoints share.
type network struct {
	endpoints []*Endpoint
	links     []atomic.Pointer[link] // from rank × size + to rank; made when first used
	asleep    atomic.Int64           // how many ranks are asleep, or have closed
	segment   int                    // bytes that a receiver takes at a time
}

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	net     *network
	rank    int
	call    wire.Mark          // the one that Begin named
	past    [history]wire.Call // the calls begun last; another rank may read them while it has a message of this one
	begun   int                // how many
	out     []outgoing         // the sends of the Exchange in progress
	in      []incoming         // and its receives
	open    int                // how many of both are not complete
	bounces [][]byte           // memory for receives marked AfterSend

	ended    atomic.Pointer[error] // the error of Fail or Close; nil: none
	closed   atomic.Bool
	state    atomic.Uint32         // awake, drowsy or asleep
	token    chan struct{}         // capacity 1
	nudged   atomic.Bool           // Nudge was called
	slept    time.Time             // when it first slept since it last went on; zero: it has not
	verdict  error                 // the error found when all ranks were asleep
	moves    uint64                // how often something was sent or received
	progress atomic.Uint64         // moves, as published to other goroutines
	left     atomic.Pointer[[]int] // the ranks that the failed Exchange was waiting for; nil: none has failed
	trail    *events.Trail
	_        [64]byte // the other ranks poll state
}

// New makes the endpoints of size ranks, in rank order.
func New(size int) []*Endpoint { return newNetwork(size, segment).endpoints }

func newNetwork(size, segment int) *network {
	n := &network{
		endpoints: make([]*Endpoint, size),
		links:     make([]atomic.Pointer[link], size*size),
		segment:   segment,
	}
	for rank := range n.endpoints {
		n.endpoints[rank] = &Endpoint{net: n, rank: rank, call: wire.NewMark(new(wire.Call)), token: make(chan struct{}, 1)}
	}
	return n
}

// history is how many calls of a rank others can compare theirs with.
const history = 8

// given returns the error with which the endpoint failed or was closed, or nil.
func (e *Endpoint) given() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// Fail makes the Exchange in progress and every later one return err. The first error counts, that of Close included.
// Other ranks do not learn of it.
func (e *Endpoint) Fail(err error) {
	if e.ended.CompareAndSwap(nil, &err) {
		e.net.wake(e.rank)
	}
}

// Moved returns a number that grows as this rank sends and receives. It may lag by some messages while the rank is
// busy, but not while it waits.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// segment is how many bytes a receiver takes at a time. The sender may withdraw its message between two segments.
// Larger copies exceed the cache, and Go's copy is slower for them.
const segment = 128 << 10

// link carries messages from one rank to another, one after the other.
type link struct {
	state atomic.Uint32
	read  atomic.Int64 // how many bytes of data the receiver needs no more

	// The message: the sender's while the link is idle.
	data []byte
	call wire.Mark
	// Why the receiver refused the message, as the sender is to see it.
	refusal *wire.MismatchError

	// The receiver's own: how many messages it has listed receives for, and how many it has taken.
	listed, received uint64
	_                [64]byte
}

// The states of a link.
const (
	idle    uint32 = iota // the sender may post a message
	posted                // the receiver may begin to take it, and the sender may withdraw it
	taking                // the receiver reads it
	taken                 // the receiver has read all of it
	refused               // the receiver made a different call
)

// link returns the link between two ranks.
func (n *network) link(from, to int) *link {
	p := &n.links[from*len(n.endpoints)+to]
	if l := p.Load(); l != nil {
		return l
	}
	p.CompareAndSwap(nil, new(link))
	return p.Load()
}

// outgoing is a send of an Exchange in progress.
type outgoing struct {
	*wire.Send
	call         wire.Mark
	link         *link
	posted, done bool
}

// incoming is a receive of an Exchange in progress.
type incoming struct {
	*wire.Recv
	call   wire.Mark
	link   *link
	number uint64 // of the message on its link
	read   int    // how many bytes were read from the sender's memory
	done   bool

	// Of a receive marked AfterSend: the link of the send that it follows, and memory for a segment that was read
	// before its place was sent: the last held bytes of those read lie there.
	own    *link
	bounce []byte
	held   int
}

// Follow makes the endpoint write its messages to t. It must be called before the endpoint is used.
func (e *Endpoint) Follow(t *events.Trail) { e.trail = t }

// while is how long a rank sleeps before Waiting reports what it waits for.
const while = 10 * time.Millisecond

// The states of a rank. Only the rank itself becomes drowsy, asleep or resting. Another goroutine that sets it back to
// awake gives it a token.
const (
	awake   uint32 = iota
	drowsy         // it checks a last time whether it can go on
	asleep         // it touches nothing before it has a token, or has set itself back to awake
	resting        // it is asleep, but may get more messages to move
)

// riseFrom sets e back to awake if it is in that state.
func (e *Endpoint) riseFrom(state uint32) bool {
	if !e.state.CompareAndSwap(state, awake) {
		return false
	}
	if state == asleep {
		e.net.asleep.Add(-1)
	}
	return true
}

// wake wakes rank if it sleeps. It comes after what the rank is to see.
func (n *network) wake(rank int) {
	e := n.endpoints[rank]
	if e.state.Load() == awake {
		return
	}
	if e.riseFrom(drowsy) || e.riseFrom(asleep) || e.riseFrom(resting) {
		e.token <- struct{}{}
	}
}

// failure returns the reason to stop waiting, or nil.
func (e *Endpoint) failure(ctx context.Context) error {
	if err := e.given(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return wire.Timeout(ctx, e.waiting())
	}
	for peer := range e.pending() {
		if e.net.endpoints[peer].closed.Load() {
			return &wire.PeerError{Rank: peer, Err: wire.ErrClosed}
		}
	}
	return nil
}

// Waiting returns the ranks, in ascending order, that the Exchange in progress has waited for during at least 10 ms, or
// that an Exchange was waiting for when it failed. It wakes the rank, which goes back to sleep if it still has to wait.
func (e *Endpoint) Waiting() []int {
	if left := e.left.Load(); left != nil {
		return slices.Clone(*left)
	}
	if !e.riseFrom(asleep) && !e.riseFrom(resting) {
		return nil
	}
	defer func() { e.token <- struct{}{} }() // until then only this goroutine accesses the rank's messages
	if time.Since(e.slept) < while {
		return nil
	}
	return e.waiting()
}

// stuckIn returns those of pending that are not Idle: nothing but other ranks can end the wait for them.
func (e *Endpoint) stuckIn() iter.Seq2[int, *wire.Call] {
	return func(yield func(int, *wire.Call) bool) {
		for i := range e.out {
			if m := &e.out[i]; !m.done && !m.Idle && !yield(m.Peer, m.call.Call) {
				return
			}
		}
		for i := range e.in {
			if m := &e.in[i]; !m.done && !m.Idle && !yield(m.Peer, m.call.Call) {
				return
			}
		}
	}
}

// isStuck reports whether there are such messages.
func (e *Endpoint) isStuck() bool {
	for i := range e.out {
		if m := &e.out[i]; !m.done && !m.Idle {
			return true
		}
	}
	for i := range e.in {
		if m := &e.in[i]; !m.done && !m.Idle {
			return true
		}
	}
	return false
}

// waiting returns the ranks of all messages that are not complete, in ascending order.
func (e *Endpoint) waiting() []int {
	var ranks []int
	for peer := range e.pending() {
		ranks = append(ranks, peer)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// pending returns the messages of the Exchange in progress that are not complete: their ranks and calls.
func (e *Endpoint) pending() iter.Seq2[int, *wire.Call] {
	return func(yield func(int, *wire.Call) bool) {
		for i := range e.out {
			if m := &e.out[i]; !m.done && !yield(m.Peer, m.call.Call) {
				return
			}
		}
		for i := range e.in {
			if m := &e.in[i]; !m.done && !yield(m.Peer, m.call.Call) {
				return
			}
		}
	}
}
