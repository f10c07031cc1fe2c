//go:build linux

package shm

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/cma"
	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	rank     int
	mem      *memory
	own      *control
	links    []link       // by rank; its own is unused
	regions  []registered // this rank's, in the order of their addresses
	patience patience
	yields   uint        // so far
	beside   bool        // it waits for a rank on the same processor
	spun     bool        // it has spun for a short message, and not found it
	yielding bool        // it leaves its processor to others as it waits
	yieldsIf func() bool // see YieldWhile; nil: never
	orders   bool        // see order

	current   wire.Mark // the call that Begin named
	published bool      // others can see it
	begun     uint      // calls that were published

	out  []outgoing // the sends of the Exchange in progress
	in   []incoming // and its receives
	open int        // how many of both are not complete

	multicast multicast
	grown     bool        // the full slots of this rank have memory
	took      int64       // how many bytes of it this process counts
	refused   time.Time   // when there was not enough, the last time
	shared    []shared    // by the sends of the Exchange in progress that have their memory in common with others
	lent      []*link     // what the last segments of these links brought
	posted    bool        // the messages in progress were posted
	nudged    atomic.Bool // Nudge was called
	peeking   peeking

	guard    refGuard
	ended    atomic.Pointer[error] // why this rank's part is over; nil: it is not
	moves    uint64                // how often something was sent or received
	progress atomic.Uint64         // moves, as far as others are to know
	awaited  linkbase.Awaited
	stalled  []int // memory for what awaited is set to
	trail    *events.Trail
}

// patience is how often a rank checks whether it can go on: first spinning, then with a yield of its processor before
// each check. After that it sleeps.
type patience struct{ spins, yields int }

// patienceFor returns the patience for size ranks on cores processors. Where a rank may occupy the processor that
// another one needs, it spins for less than a context switch takes; where it certainly does, it does not spin.
func patienceFor(size, cores int) patience {
	switch {
	case size <= cores:
		return patience{spins: 2000, yields: 20}
	case size <= 2*cores:
		return patience{spins: 50, yields: 100}
	}
	return patience{spins: 0, yields: 100}
}

// cores is the number of processors that this process can use.
var cores = runtime.NumCPU()

// peeking is what a rank needs to read the memory of other processes, and to have them read its own.
type peeking struct {
	off    bool // it does neither
	from   int  // how long the messages are that it offers
	oneWay bool // also those to ranks that send it nothing as long
	always bool // all of them that can be read

	cookie [8]byte // this rank's, for the others
	bounce []byte  // what is read for kernels
	pages  hugePageCache
	cma.Reader
}

// multicast is a rank's own multicast slots.
type multicast struct {
	small, full row
	stamp       uint64          // of the slot taken last
	slots       []multicastSlot // by slot
}

// multicastSlot is one slot, small or full.
type multicastSlot struct {
	stamp   uint64
	readers []reader
}

// reader is a segment of a ring that lies in a multicast slot.
type reader struct {
	ring    *ring
	segment uint32
}

// shared is what the sends of the same memory in an Exchange share: the segment that is in a multicast slot, starting
// at byte at. The slot must still have the stamp.
type shared struct {
	at, n, slot int
	where       uint32 // that slot, as line.where encodes it
	stamp       uint64 // 0: none yet
}

// reason returns the error with which the endpoint failed or was closed, or nil.
func (e *Endpoint) reason() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// release releases the guard for a goroutine other than the rank's, and frees the memory if that was the last use.
func (e *Endpoint) release() {
	if e.guard.release() {
		e.free()
	}
}

// releaseOwn is release for the rank's own goroutine.
func (e *Endpoint) releaseOwn() {
	if e.guard.releaseOwn() {
		e.free()
	}
}

// free unmaps all shared memory.
func (e *Endpoint) free() {
	e.mem.unmap()
	e.giveBack()
	e.unmapRegions()
}

// mostGrown is how many bytes all endpoints of this process may take for their full slots.
const mostGrown = 256 << 20

// grownAll is how many they have taken.
var grownAll atomic.Int64

// giveBack subtracts this rank's full slots from grownAll.
func (e *Endpoint) giveBack() { grownAll.Add(-e.took) }

// unmapRegions unmaps the regions of the other ranks.
func (e *Endpoint) unmapRegions() {
	for rank := range e.links {
		for _, r := range e.links[rank].regions {
			unmapShared(r.mapped)
		}
		e.links[rank].regions = nil
	}
}

// gaveUp returns the error of a message that l's peer has withdrawn. This endpoint's own error takes precedence, as it
// may be the cause.
func (e *Endpoint) gaveUp(l *link) error {
	switch {
	case e.reason() != nil:
		return e.reason()
	case l.control.closed.Load() != 0:
		return &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
	}
	return &wire.PeerError{Rank: l.peer, Err: wire.ErrAborted}
}

// Moved returns a number that grows as this rank sends and receives. It may lag by some messages while the rank is
// busy, but not while it waits.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// move counts that something was sent or received without being listed.
func (e *Endpoint) move() {
	if e.moves++; e.moves%64 == 0 {
		e.progress.Store(e.moves)
	}
}

// pending returns the links and calls of the messages that this rank waits for: the first in each direction of a link.
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

// failure returns the reason to stop waiting, or nil. The endpoint's own error precedes that of ctx, which may follow
// from it.
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

// Waiting returns the ranks, in ascending order, that the Exchange in progress has waited for during a nap or longer,
// or that an Exchange was waiting for when it failed.
func (e *Endpoint) Waiting() []int { return e.awaited.Ranks() }

// waiting returns the ranks of all messages that are not complete, in ascending order. It reuses the memory of ranks.
func (e *Endpoint) waiting(ranks []int) []int {
	for l := range e.pending() {
		ranks = append(ranks, l.peer)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// stall makes Waiting return the ranks that the Exchange waits for now.
func (e *Endpoint) stall() {
	e.stalled = e.waiting(e.stalled[:0])
	e.awaited.Set(e.stalled)
}
