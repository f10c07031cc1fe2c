package rdma

import (
	"time"

	"github.com/collgen/collgen/fast/internal/links"
)

// link is one rank's end of a connection to another rank.
type link struct {
	links.Link
	asked bool  // for a line
	line  *line // nil: not connected yet
	ready bool  // the other rank can be written to

	out    window // of segments
	say    window // of what is said besides
	in     inbox
	heard  inbox
	came   []uint32 // how many bytes were written with the segment in each slot
	used   int      // receives that were consumed and not posted again
	begun  uint64   // writes that were posted
	ended  uint64   // those that are over, as far as is known
	signed uint64   // those up to the last one that is told of when it is over
	told   uint64   // the fingerprint of the call that was told last
	unsaid []byte   // frames to be said besides

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
	dead    bool // the queue pair is broken
	probed  time.Time
}

// put is how a message is written to its place.
type put struct {
	asks   bool   // where it is to go, which was not answered
	to     place  // the answer
	from   *known // the registered memory that it lies in, if its place is granted
	placed int    // bytes that were written to its place, or soon will be
	last   uint64 // the number of the last write of them out of that memory, plus 1
	closed bool   // the other rank was told that all were
}

// slot is the slot of segment n.
func (l *link) slot(n uint32) []byte { return l.line.part(0, n%l.in.slots, l.line.bytes) }

// sendSlot is the slot to send from of the next write.
func (l *link) sendSlot() []byte {
	return l.line.part(sendAt(l.line.slots, l.line.bytes), uint32(l.begun%uint64(l.line.slots)), l.line.bytes)
}

// part is the slot of that number of those from at on.
func (n *line) part(at int, slot, bytes uint32) []byte {
	at += int(slot) * int(bytes)
	return n.memory[at : at+int(bytes) : at+int(bytes)]
}

// canWrite tells whether a write can be posted, and has a slot to send from.
func (l *link) canWrite() bool { return l.begun-l.ended < uint64(l.line.slots) }
