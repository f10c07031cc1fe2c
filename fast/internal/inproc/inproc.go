// Package inproc carries messages between ranks that are goroutines of one process. Nothing is copied on the way: the
// receiver copies, or reduces, straight out of the sender's memory, and the sender's Exchange returns when it has.
package inproc

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

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

	ended    atomic.Pointer[error] // why this rank's part is over; nil: it is not
	closed   atomic.Bool
	state    atomic.Uint32         // awake, drowsy or asleep
	token    chan struct{}         // capacity 1
	slept    time.Time             // when it first slept since it last went on; zero: it has not
	verdict  error                 // what came out when all ranks were asleep
	moves    uint64                // how often something was sent or received
	progress atomic.Uint64         // moves, as far as others are to know
	left     atomic.Pointer[[]int] // for which ranks the Exchange that failed was waiting; nil: none has failed
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

// Begin says which call the following messages belong to. After the last Exchange of the call nothing reads it any
// more.
func (e *Endpoint) Begin(call wire.Mark) {
	e.call = call
	e.past[e.begun%history] = *call.Call
	e.begun++
}

// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed.
// Then no rank reads the memory of sends any more. After an error the endpoint is only good for Close.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if err := e.given(); err != nil {
		return err
	}
	e.slept = time.Time{}
	defer e.forget() // also if a kernel panics
	if err := e.list(sends, recvs); err != nil {
		return err
	}
	return e.complete(ctx)
}

// forget ends the use of the caller's memory: by other ranks, and by e itself, so that it can be collected.
func (e *Endpoint) forget() {
	if e.open > 0 {
		left := e.waiting()
		e.left.Store(&left)
		e.withdraw()
	}
	clear(e.out)
	clear(e.in)
}

// Fail has the Exchange in progress, and every later one, return err. The first error counts, that of Close included.
// Other ranks do not hear of it.
func (e *Endpoint) Fail(err error) {
	if e.ended.CompareAndSwap(nil, &err) {
		e.net.wake(e.rank)
	}
}

// Close leaves: a rank that waits for this one gets *wire.PeerError with this rank and wire.ErrClosed, and an Exchange
// of this rank wire.ErrClosed.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	if e.closed.CompareAndSwap(false, true) {
		e.net.asleep.Add(1)
		for rank := range e.net.endpoints {
			e.net.wake(rank)
		}
	}
	return nil
}

// list prepares the messages of an Exchange.
func (e *Endpoint) list(sends []wire.Send, recvs []wire.Recv) error {
	e.out, e.in, e.open = e.out[:0], e.in[:0], len(sends)+len(recvs)
	for i := range sends {
		if err := wire.CheckPeer(e.rank, sends[i].Peer, len(e.net.endpoints)); err != nil {
			return err
		}
		e.out = append(e.out, outgoing{Send: &sends[i], call: e.call.Of(sends[i].Call), link: e.net.link(e.rank, sends[i].Peer)})
	}
	bounces := 0
	for i := range recvs {
		if err := wire.CheckPeer(e.rank, recvs[i].Peer, len(e.net.endpoints)); err != nil {
			return err
		}
		r := incoming{Recv: &recvs[i], call: e.call.Of(recvs[i].Call), link: e.net.link(recvs[i].Peer, e.rank)}
		r.number = r.link.listed
		r.link.listed++
		if r.AfterSend && isSent(r.Into, r.Peer, sends) {
			r.own = e.net.link(e.rank, r.Peer)
			r.bounce = e.bounce(bounces, min(len(r.Into), e.net.segment))
			bounces++
		}
		e.in = append(e.in, r)
	}
	return nil
}

// isSent reports whether one of sends goes to peer from memory of into. Out of place, what a receive marked AfterSend
// is to follow may come from elsewhere.
func isSent(into []byte, peer int, sends []wire.Send) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(into)))
	for i := range sends {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(sends[i].Data)))
		if sends[i].Peer == peer && from < at+uintptr(len(sends[i].Data)) && at < from+uintptr(len(into)) {
			return true
		}
	}
	return false
}

// bounce returns the i-th buffer for a receive marked AfterSend.
func (e *Endpoint) bounce(i, size int) []byte {
	if i == len(e.bounces) {
		e.bounces = append(e.bounces, nil)
	}
	if len(e.bounces[i]) < size {
		e.bounces[i] = make([]byte, size)
	}
	return e.bounces[i]
}

// complete drives the listed messages until all are complete or one fails.
func (e *Endpoint) complete(ctx context.Context) error {
	for vain := 0; e.open > 0; vain++ {
		moved, err := e.advance()
		if err != nil {
			return err
		}
		if moved {
			vain, e.slept = 0, time.Time{}
			if e.moves%64 != 0 {
				continue
			}
			e.progress.Store(e.moves)
			if e.open > 0 && (ctx.Err() != nil || e.given() != nil) {
				return e.failure(ctx)
			}
			continue
		}
		if vain < yields {
			runtime.Gosched()
			continue
		}
		e.progress.Store(e.moves)
		if err := e.sleep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Moved returns a number that has grown if this rank has sent or received something since it was less. It may be some
// messages late while the rank moves fast, and is not when it waits.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// advance does what can be done without waiting, and tells whether that was anything.
func (e *Endpoint) advance() (moved bool, err error) {
	for i := range e.out {
		did, err := e.push(&e.out[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	for i := range e.in {
		did, err := e.pull(&e.in[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	if moved {
		e.moves++
	}
	return moved, nil
}

// given returns the reason why no Exchange can succeed any more, if there is one.
func (e *Endpoint) given() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return nil
}
