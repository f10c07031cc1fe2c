package rdma

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
)

// link is one rank's end of a connection to another rank.
type link struct {
	peer  int
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

	sends        []outgoing // those of the Exchange in progress, in order
	recvs        []incoming
	sent, taken  int     // how many of them are complete
	sentEver     uint64  // messages that have been sent on this link
	receivedEver uint64  // and received
	current      segment // the one in the slot in turn, of a message in turn
	opened       bool    // there is one
	at           int     // how much of it was taken
	lent         bool    // the slot in turn
	answer       place   // what the other rank has said last of where a message is to go
	answered     bool    // it has
	searched     uint32  // up to there segments were looked at before their turn

	flushed bool // all that is known of why it broke is that something was flushed
	dead    bool // the queue pair is broken
	probed  time.Time
	verdict error // the other rank's last word, or why it can no more be reached; it comes after all messages
	partner talk.Partner
}

// outgoing is a send of an Exchange in progress.
type outgoing struct {
	*wire.Send
	mark   wire.Mark
	at     int    // bytes that were sent
	begun  bool   // its first segment was written
	asks   bool   // where it is to go, which was not answered
	to     place  // the answer
	from   *known // the registered memory that it lies in, if its place is granted
	placed int    // bytes that were written to its place, or soon will be
	last   uint64 // the number of the last write of them out of that memory, plus 1
	closed bool   // the other rank was told that all were
}

// incoming is a receive of an Exchange in progress.
type incoming struct {
	*wire.Recv
	mark  wire.Mark
	after *outgoing // of a receive marked AfterSend: the send of the same memory
	at    int       // bytes that are in place
	begun bool      // its first segment has come
	where *known    // the registered memory that the other rank was told to write to
}

// sending is the send whose turn it is, or nil.
func (l *link) sending() *outgoing {
	if l.sent == len(l.sends) {
		return nil
	}
	return &l.sends[l.sent]
}

// receiving is the receive whose turn it is, or nil.
func (l *link) receiving() *incoming {
	if l.taken == len(l.recvs) {
		return nil
	}
	return &l.recvs[l.taken]
}

// sendOf is the send from the memory of r, if r is marked AfterSend and there is one.
func (l *link) sendOf(r *wire.Recv) *outgoing {
	if !r.AfterSend || len(r.Into) == 0 {
		return nil
	}
	for i := range l.sends {
		if s := &l.sends[i]; unsafe.SliceData(s.Data) == unsafe.SliceData(r.Into) {
			return s
		}
	}
	return nil
}

// forget ends the Exchange, complete or not.
func (l *link) forget() {
	clear(l.sends)
	clear(l.recvs)
	l.sends, l.recvs, l.sent, l.taken = l.sends[:0], l.recvs[:0], 0, 0
}

// died is the error of a rank that has ended, or may as well have.
func (l *link) died(format string, args ...any) error {
	return &wire.PeerError{Rank: l.peer, Err: fmt.Errorf("%w: "+format, append([]any{wire.ErrDied}, args...)...)}
}

// fail has l end, for that reason if there is none before.
func (l *link) fail(verdict error) {
	if l.verdict == nil {
		l.verdict = verdict
	}
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
