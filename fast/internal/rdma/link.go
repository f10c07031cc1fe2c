package rdma

import (
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

// link is one rank's end of a connection to another rank.
type link struct {
	linkbase.Link
	asked bool  // for a line
	line  *line // nil: not connected yet
	lanes []lane
	main  *lane     // of all but the parts of long messages
	ready bool      // the other rank can be written to
	left  time.Time // when it has closed its end

	out    window // of segments
	say    window // of what is said besides
	in     inbox
	heard  inbox
	came   []uint32 // how many bytes were written with the segment in each slot
	told   uint64   // the fingerprint of the call that was told last
	unsaid []byte   // frames to be said besides

	striped  uint32  // messages that were written to their places
	granted  uint32  // and those that the other rank was told the places of
	put      put     // how the send in turn is written to its place
	where    *known  // of the receive in turn: the registered memory that the other rank was told to write to
	current  segment // the one in the slot in turn, of a message in turn
	opened   bool    // there is one
	at       int     // how much of it was taken
	lent     bool    // the slot in turn
	answer   place   // what the other rank has said last of where a message is to go
	answered bool    // it has
	searched uint32  // up to there segments were looked at before their turn

	flushed bool // all that is known of why it broke is that something was flushed
	dead    bool // a queue pair is broken
	probed  time.Time
}

// slot returns the slot of segment n.
func (l *link) slot(n uint32) []byte { return l.line.part(0, n%l.in.slots, l.line.bytes) }

// part returns the slot of that number of those from at on.
func (n *line) part(at int, slot, bytes uint32) []byte {
	at += int(slot) * int(bytes)
	return n.memory[at : at+int(bytes) : at+int(bytes)]
}

// beside returns the lane of that number, counted from the main one on, and around.
func (l *link) beside(n int) *lane { return &l.lanes[(l.main.index+n)%len(l.lanes)] }

// gone reports whether nothing of the send in turn is read any more where it lies.
func (l *link) gone() bool {
	for i := 1; i < len(l.lanes); i++ {
		if t := l.beside(i); t.ended < t.begun {
			return false
		}
	}
	return l.put.last == 0 || l.main.ended >= l.put.last
}

// cut ends the connection: what is in flight on any lane completes, and nothing comes any more.
func (l *link) cut() {
	for i := range l.lanes {
		_ = l.lanes[i].pair.Break()
	}
	l.dead = true
}

// unended returns how many writes are on their way, as far as this rank will be told of them.
func (l *link) unended() (n int) {
	for i := range l.lanes {
		if t := &l.lanes[i]; t.ended < t.signed {
			n += int(t.signed - t.ended)
		}
	}
	return n
}

// whole reports whether all of the receive in turn has come that goes over other lanes than the main one, if this rank
// has told its place.
func (l *link) whole() bool {
	for i := 1; i < len(l.lanes) && l.where != nil; i++ {
		if l.beside(i).come != l.granted {
			return false
		}
	}
	return true
}
