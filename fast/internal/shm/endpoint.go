//go:build linux

package shm

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
	"golang.org/x/sys/unix"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	rank     int
	mem      *memory
	own      *control
	links    []link       // by rank; its own is unused
	regions  []registered // this rank's, in the order of their addresses
	patience patience
	yields   uint // so far
	beside   bool // it waits for a rank of its own processor
	spun     bool // it has looked for a message as often as it does without yielding
	orders   bool // see order

	current   wire.Mark // the call that Begin named
	published bool      // others can see it
	begun     uint      // calls that were published

	out  []outgoing // the sends of the Exchange in progress
	in   []incoming // and its receives
	open int        // how many of both are not complete

	board   board
	grown   bool      // the full slots of this rank have memory
	took    int64     // how many bytes of it this process counts
	refused time.Time // when there was not enough, the last time
	shared  []shared  // by the sends of the Exchange in progress that have their memory in common with others
	lent    []*link   // what the last segments of these links brought
	peeking peeking

	gate     gate
	ended    atomic.Pointer[error] // why this rank's part is over; nil: it is not
	moves    uint64                // how often something was sent or received
	progress atomic.Uint64         // moves, as far as others are to know
	awaited  linkbase.Awaited
	stalled  []int // memory for what awaited is set to
	trail    *events.Trail
}

// patience is how often a rank looks whether it can go on: first at once, then with a yield of its processor before
// each look. After that it sleeps.
type patience struct{ spins, yields int }

// patienceFor suits size ranks on cores processors. Where a rank may occupy the processor that another one needs, it
// looks for less than a switch of processes takes; where it certainly does, not at all.
func patienceFor(size, cores int) patience {
	switch {
	case size <= cores:
		return patience{spins: 2000, yields: 20}
	case size <= 2*cores:
		return patience{spins: 50, yields: 100}
	}
	return patience{spins: 0, yields: 100}
}

// cores is the number of processors that this process may use.
var cores = runtime.NumCPU()

// peeking is what a rank needs to read the memory of other processes, and to have them read its own.
type peeking struct {
	off    bool // it does neither
	from   int  // how long the messages are that it offers
	oneWay bool // also those to ranks that send it nothing as long
	always bool // all of them that can be read

	cookie [8]byte // this rank's, for the others
	theirs [8]byte // of the process that is read
	bounce []byte  // what is read for kernels
	mine   [2]unix.Iovec
	far    [2]unix.RemoteIovec
	pages  scanner
}

// board is what a rank knows of its own board.
type board struct {
	small, full row
	stamp       uint64 // of what was posted last
	posts       []post // by slot
}

// post is one slot, small or full.
type post struct {
	stamp   uint64
	readers []reader
}

// reader is a ring's segment that lies in a post.
type reader struct {
	ring    *ring
	segment uint32
}

// shared is what the sends of the same memory in an Exchange have in common: which of its segments is on the board, the
// one from byte at on, in the slot that has the stamp.
type shared struct {
	at, n, slot int
	where       uint32 // that slot, as a line says it
	stamp       uint64 // 0: none yet
}

// reason returns why this rank's part is over, if it is.
func (e *Endpoint) reason() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// leave leaves the gate, for who is not the rank, and frees the memory if that was the last to do.
func (e *Endpoint) leave() {
	if e.gate.leave() {
		e.free()
	}
}

// stepOut is leave for the rank.
func (e *Endpoint) stepOut() {
	if e.gate.stepOut() {
		e.free()
	}
}

func (e *Endpoint) free() {
	e.mem.unmap()
	e.giveBack()
	e.unmapRegions()
}

// mostGrown bounds what all endpoints of this process take for their full slots, in bytes.
const mostGrown = 256 << 20

// grownAll is what they have.
var grownAll atomic.Int64

// giveBack notes that the memory is unmapped.
func (e *Endpoint) giveBack() { grownAll.Add(-e.took) }

// unmapRegions ends the use of the other ranks' regions.
func (e *Endpoint) unmapRegions() {
	for rank := range e.links {
		for _, r := range e.links[rank].regions {
			unmapShared(r.mapped)
		}
		e.links[rank].regions = nil
	}
}

// gaveUp returns the error of a message that l's peer has withdrawn. That this rank's part is over comes before it, and
// may be its cause.
func (e *Endpoint) gaveUp(l *link) error {
	switch {
	case e.reason() != nil:
		return e.reason()
	case l.control.closed.Load() != 0:
		return &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
	}
	return &wire.PeerError{Rank: l.peer, Err: wire.ErrAborted}
}

// Moved returns a number that has grown if this rank has sent or received something since it was less. It may be some
// messages late while the rank moves fast, and is not when it waits.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// move notes that something was sent or received at once.
func (e *Endpoint) move() {
	if e.moves++; e.moves%64 == 0 {
		e.progress.Store(e.moves)
	}
}

// pending returns the links and calls of the messages that this rank waits for: of those on one link that go one way,
// the first.
func (e *Endpoint) pending() iter.Seq2[*link, wire.Mark] {
	return func(yield func(*link, wire.Mark) bool) {
		for i := range e.out {
			if m := &e.out[i]; m.inTurn() && !yield(m.link, m.call) {
				return
			}
		}
		for i := range e.in {
			if m := &e.in[i]; m.inTurn() && !yield(m.link, m.call) {
				return
			}
		}
	}
}

// failure returns the reason to wait no longer, if there is one. This rank's own end comes before that of ctx, which
// may be its consequence.
func (e *Endpoint) failure(ctx context.Context) error {
	if err := e.reason(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return wire.Timeout(ctx, e.waiting(nil))
	}
	for l := range e.pending() {
		if l.control.closed.Load() != 0 {
			return &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
		}
	}
	return nil
}

// Waiting returns the ranks, in ascending order, that the Exchange in progress has been waiting for for a nap or
// longer, or that one was waiting for when it failed.
func (e *Endpoint) Waiting() []int { return e.awaited.Ranks() }

// waiting returns the ranks of all messages that are not complete, in ascending order, in the memory of ranks.
func (e *Endpoint) waiting(ranks []int) []int {
	for l := range e.pending() {
		ranks = append(ranks, l.peer)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// stall has Waiting return the ranks that the Exchange waits for now.
func (e *Endpoint) stall() {
	e.stalled = e.waiting(e.stalled[:0])
	e.awaited.Set(e.stalled)
}
