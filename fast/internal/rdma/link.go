package rdma

import (
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

// link is one rank's end of a connection to another rank.
type link struct {
	linkbase.Link
	requested bool  // a connection was asked for
	conn      *conn // nil: not connected yet
	pairs     []queuePair
	main      *queuePair // carries everything but the parts of long messages
	ready     bool       // the peer can be written to
	left      time.Time  // when the peer closed its end

	out        credits  // for segments
	controlOut credits  // for control frames
	in         ring     // of segments
	controlIn  ring     // of control frames
	written    []uint32 // how many bytes were written with the segment in each slot
	lastCall   uint64   // the fingerprint of the call that the peer was told last
	pending    []byte   // control frames to be sent

	sentDirect uint32        // messages that were written to their destinations
	granted    uint32        // messages that the peer was told the destinations of
	direct     directWrite   // how the send in turn is written to its destination
	target     *registration // of the receive in turn: the registered memory that the peer was told to write to
	current    segment       // the segment in the slot in turn, of a message in turn
	opened     bool          // there is one
	at         int           // how much of it was taken
	lent       bool          // the slot in turn is lent
	answer     remoteBuffer  // the peer's last answer to where a message goes
	answered   bool          // there is one
	scanned    uint32        // segments before this one were inspected ahead of their turn

	flushed bool // all that is known of why the link broke is that something was flushed
	dead    bool // a queue pair is broken
	probed  time.Time
}

// slot returns the slot of segment n.
func (l *link) slot(n uint32) []byte { return l.conn.slot(0, n%l.in.slots, l.conn.bytes) }

// pairAfter returns the queue pair n places after the main one, cyclically.
func (l *link) pairAfter(n int) *queuePair { return &l.pairs[(l.main.index+n)%len(l.pairs)] }

// sendIsRead reports whether the device has read the whole send in turn, so that the caller may overwrite it.
func (l *link) sendIsRead() bool {
	for i := 1; i < len(l.pairs); i++ {
		if q := l.pairAfter(i); q.done < q.posted {
			return false
		}
	}
	return l.direct.last == 0 || l.main.done >= l.direct.last
}

// breakPairs ends the connection: what is in flight on any queue pair completes, and nothing arrives any more.
func (l *link) breakPairs() {
	for i := range l.pairs {
		_ = l.pairs[i].pair.Break()
	}
	l.dead = true
}

// unfinished returns how many writes are on their way, as far as this rank will learn of their end.
func (l *link) unfinished() (n int) {
	for i := range l.pairs {
		if q := &l.pairs[i]; q.done < q.signaled {
			n += int(q.signaled - q.done)
		}
	}
	return n
}

// partsArrived reports whether all parts of the receive in turn have arrived that go over other queue pairs than the
// main one. There are some only if this rank has told its destination.
func (l *link) partsArrived() bool {
	for i := 1; i < len(l.pairs) && l.target != nil; i++ {
		if l.pairAfter(i).parts != l.granted {
			return false
		}
	}
	return true
}

// An immediate says what was written, in its two highest bits, and the low bits of a number. Numbers of 32 bits start
// anywhere and wrap around: only the difference of two of them has a meaning. It is less than the number of slots.
const (
	immSegment      uint32 = iota << 30 // a segment, by its number: in the slot of that number
	immControl                          // control frames, by their number
	immFreed                            // how many segments were taken: up to that number. No bytes were written
	immControlFreed                     // the same for control frames
	immKinds        = 3 << 30
	immPart         = 0 // the only kind on other queue pairs than the main one: all parts of a message were written
	immNumbers      = 1<<30 - 1
)

// immediate returns the immediate of a kind and number.
func immediate(kind, n uint32) uint32 { return kind | n&immNumbers }

// ahead returns how far the number of an immediate is ahead of n. One that is behind n is far ahead.
func ahead(imm, n uint32) uint32 { return (imm - n) & immNumbers }

// credits is a sender's view of the receiver's slots: how many it has used in all, and how many of them are known to be
// free again.
type credits struct {
	slots       uint32
	sent, freed uint32
}

// room returns how many slots are free.
func (c *credits) room() int { return int(c.slots - (c.sent - c.freed)) }

// free records that the receiver has taken everything up to the number of an immediate. It returns false if that is
// impossible.
func (c *credits) free(imm uint32) bool {
	n := ahead(imm, c.freed)
	if n > c.sent-c.freed {
		return false
	}
	c.freed += n
	return true
}

// ring is a receiver's view of its own slots: what has arrived and was not taken lies between next and arrived.
type ring struct {
	slots         uint32
	next, arrived uint32
	reported      uint32 // the sender knows that slots up to this number are free
}

// arrive records an arrival. It returns false if the immediate's number is not the next one, or there was no slot for
// it.
func (r *ring) arrive(imm uint32) bool {
	if ahead(imm, r.arrived) != 0 || r.arrived-r.reported >= r.slots {
		return false
	}
	r.arrived++
	return true
}

// owesCredits reports whether it is time to tell the sender of free slots: a quarter of them at a time.
func (r *ring) owesCredits() bool { return r.next-r.reported >= r.slots/4 }
