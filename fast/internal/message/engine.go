// Package message moves messages between two ranks of a communicator over the control plane, beside the data path. Any
// number of goroutines may use it, and the goroutine of the control plane handles what comes.
//
// A short message goes at once, with its bytes, if the sender has credit for it: so much of it the receiver keeps until
// a receive matches. Any other message is announced. When a receive matches, the receiver reads the message in the
// memory of the sender's process, if it may (see place). Else it accepts the message, and the bytes follow in chunks,
// of which at most a Window is not acknowledged (see oweAck). The number of messages that may be announced and not
// matched is limited too, and so is the number of announcements on their way; the sender keeps those that follow, in
// order.
//
// What another rank sends is checked. If no rank that keeps the rules sends it, the communicator is given up.
package message

import (
	"fmt"
	"sync"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/wire"
)

// The limits between two ranks of a communicator.
const (
	EagerLimit   = 8 << 10      // bytes of a message that is sent at once
	EagerCredit  = 64 << 10     // bytes of such messages that were not received
	MaxAnnounced = 1 << 14      // messages that were announced, and that no receive has matched
	MaxUnseen    = 256          // announcements that the receiver has not said to have seen
	Window       = 4 * maxChunk // bytes of messages on their way

	// localAtOnce is how many frames to itself a rank handles without letting others in.
	localAtOnce = 64

	// leastRepaid is the least credit that is returned at once, in bytes.
	leastRepaid = 1 << 10

	// overhead is what a message takes of the credit besides its bytes.
	overhead = 128
)

// Comm is what an Engine needs of its communicator.
type Comm interface {
	// Send sends a control message to a rank.
	Send(to int, kind uint8, body []byte)
	// Share returns the budget of this process, and the number of a rank's process.
	Share(rank int) (b *Budget, process int)
	// Process returns the number that the system has for a rank's process, if both processes may read each other's
	// memory; 0: they may not.
	Process(rank int) int
	// Broken gives the communicator up because of what a rank has sent.
	Broken(err error)
}

// Engine is one rank's part. Its methods may be called from any goroutine.
type Engine struct {
	rank, size int
	comm       Comm
	left       chan struct{} // closed when this rank has closed the communicator

	mu      sync.Mutex
	over    bool
	peers   map[int]*peer // by rank, those that this one has had to do with
	matcher matcher[*Op]
	probes  []*Op
	waiting map[*Op]bool
	reading map[*Op][]byte // the buffers that are filled from a sender's memory just now, also if the call is over
	begun   uint64         // how many operations have begun
	local   [][]byte       // frames from this rank to itself
	serving bool           // a goroutine handles them
	after   []func()       // to be called when the engine is not locked any more
	out     []byte         // for the frame that is sent
	lost    int            // peers that are gone
}

// peer is another rank, or this one.
type peer struct {
	rank    int
	gone    error // why it takes and sends nothing any more
	sender        // what is sent to it
	arrival       // what comes from it
}

// New returns the Engine of a rank.
func New(rank, size int, c Comm) *Engine {
	return &Engine{rank: rank, size: size, comm: c, left: make(chan struct{}), peers: make(map[int]*peer),
		waiting: make(map[*Op]bool), reading: make(map[*Op][]byte)}
}

// peer returns a rank. The engine is locked.
func (e *Engine) peer(rank int) *peer {
	p := e.peers[rank]
	if p == nil {
		p = &peer{rank: rank}
		e.peers[rank] = p
	}
	return p
}

// unlock unlocks the engine, after it has handled what this rank has sent to itself. If that is much, such as a long
// message, a goroutine handles the rest, and lets others in between.
func (e *Engine) unlock() {
	for n := 0; len(e.local) > 0 && !e.serving; n++ {
		if n == localAtOnce {
			e.serving = true
			go e.serveLocal()
			break
		}
		e.handleLocal()
	}
	after := e.after
	e.after = nil
	e.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// handleLocal handles the next frame of this rank to itself. The engine is locked.
func (e *Engine) handleLocal() {
	b := e.local[0]
	e.local = without(e.local, 0)
	e.handle(e.rank, b)
}

// serveLocal handles the frames of this rank to itself until there are none.
func (e *Engine) serveLocal() {
	for more := true; more; {
		e.mu.Lock()
		if more = len(e.local) > 0; more {
			e.handleLocal()
		}
		e.serving = more
		e.unlock()
	}
}

// send sends a frame to p. The engine is locked.
func (e *Engine) send(p *peer, f frame) {
	e.out = f.appendTo(e.out[:0])
	if p.rank == e.rank {
		e.local = append(e.local, wire.CopyBody(e.out))
		return
	}
	e.comm.Send(p.rank, control.KindMessage, e.out)
}

// Handle takes a message of kind control.KindMessage from a rank. It owns body from now on.
func (e *Engine) Handle(from int, body []byte) {
	if e == nil || from == e.rank || from < 0 || from >= e.size {
		return
	}
	e.mu.Lock()
	defer e.unlock()
	e.handle(from, body)
}

// handle is Handle for a locked engine.
func (e *Engine) handle(from int, body []byte) {
	p := e.peer(from)
	if e.over || p.gone != nil {
		return
	}
	f, ok := decode(body)
	if ok {
		ok = e.take(p, &f)
	}
	if f.kind == data {
		wire.Recycle(body)
	}
	if !ok {
		err := fmt.Errorf("%w: it breaks the rules of messages", wire.ErrDied)
		e.lose(p, err)
		e.after = append(e.after, func() { e.comm.Broken(&wire.PeerError{Rank: from, Err: err}) })
	}
}

// take takes a frame of p, and reports whether p may send it.
func (e *Engine) take(p *peer, f *frame) bool {
	switch f.kind {
	case eager:
		return e.takeEager(p, f)
	case announce:
		return e.takeAnnouncement(p, f)
	case data:
		return e.takeData(p, f)
	case abandon:
		return e.takeAbandon(p, f)
	case credit:
		return e.takeCredit(p, int(f.n))
	case accept:
		return e.takeAccept(p, f.id)
	case refuse:
		return e.takeRefusal(p, f)
	case seen:
		return e.takeSeen(p, int(f.n))
	default:
		return e.takeAck(p, f)
	}
}

// Gone says that a rank has closed the communicator or is down, because of err.
func (e *Engine) Gone(rank int, err error) {
	if e == nil || rank == e.rank {
		return
	}
	e.mu.Lock()
	defer e.unlock()
	if p := e.peer(rank); p.gone == nil {
		e.lose(p, err)
	}
}

// lose fails what waits for p, because of err. The engine is locked.
func (e *Engine) lose(p *peer, err error) {
	p.gone = err
	e.lost++
	failed := &wire.PeerError{Rank: p.rank, Err: err}
	e.loseSends(p, failed)
	e.loseReceives(p, failed)
}

// othersGone reports whether this rank is not the only one, and all others are gone. The engine is locked.
func (e *Engine) othersGone() bool {
	return e.lost > 0 && e.lost == e.size-1
}

// Leave ends all that waits here, because this rank closes the communicator.
func (e *Engine) Leave() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.unlock()
	if e.over {
		return
	}
	e.over = true
	for _, p := range e.peers {
		e.giveBack(p)
		e.forgive(p)
		e.oweNone(p)
	}
	e.matcher.arrived = index[*envelope]{}
	close(e.left)
}

// Uses reports whether a call uses a buffer for which is returns true.
func (e *Engine) Uses(is func(buf []byte) bool) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for o := range e.waiting {
		if is(o.buf) {
			return true
		}
	}
	for _, buf := range e.reading {
		if is(buf) {
			return true
		}
	}
	return false
}

// wake goes on with what has waited for the budget.
func (e *Engine) wake() {
	e.mu.Lock()
	defer e.unlock()
	for _, p := range e.peers {
		e.pump(p)
	}
}

// share returns the budget for what is sent to p, and its process; nil: there is no limit.
func (e *Engine) share(p *peer) (b *Budget, process int) {
	if p.rank == e.rank {
		return nil, 0
	}
	return e.comm.Share(p.rank)
}
