package deadlock

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Agree, Shrink, Grow and Group work beside the data path: each ends only when all its ranks have begun it. If a rank Y
// waits in one of them for a rank X, which is in a call that Y has to make first, both wait for ever. So when Y has
// waited for a moment it asks the others, repeatedly, whether they are in such a call. An answer can be believed for
// the following reasons.
//
// X answers only from a call that blocks the goroutine which makes the calls of its rank, and only if it has not begun
// the operation in which Y waits. It begins that no earlier than its call is over, because both take Comm.busy. Y holds
// Comm.busy, and has no pending started calls, so it begins no call before its operation is over; and that is not
// before X has begun it. Now assume that X's call needs Y to begin it, as those of provable.go do, and that Y has not
// begun it when the answer comes. Then neither goes on, no matter how old the answer is or what is on its way. If X
// merely waits for Y, it has to say so twice, as far apart as a ring has to hold, and its transport must have moved
// nothing in between.
//
// A rank that computes does not answer, nor does one whose call Y has made already: the counts of calls on Y tell. Only
// Shrink may begin while a call of its rank runs, so that it gets ranks out of calls after a failure. A rank whose
// calls run in one goroutine and whose Shrink on a healthy communicator runs in another therefore gets the error that
// the two do not match.
//
// Only the end of a context would end the wait of one of the two. It is a mismatch all the same.

// Operation is an operation beside the data path.
type Operation struct {
	Group  uint64 // the number that the groups of its ranks have in common; 0: it is an agreement
	Number uint64 // among the agreements, or these groups, from 1
}

// Caller is what a Detector needs to know of the calls of its rank.
type Caller interface {
	// Pending reports whether started calls are not over yet.
	Pending() bool
	// BlocksCaller reports whether the call in progress blocks the goroutine that makes the rank's calls.
	BlocksCaller() bool
	// HasMade reports whether this rank has made its part of a call that another rank is in.
	HasMade(call *wire.Call, other int) bool
	// HasBegun reports whether this rank has begun o, or never will.
	HasBegun(o Operation) bool
	// Mismatched gives the communicator up with err, because this rank is in o, which is called name.
	Mismatched(o Operation, name string, err *wire.MismatchError)
}

// inquiries are those of a rank.
type inquiries struct {
	last atomic.Pointer[inquiry] // nil: there was none
}

// inquiry finds out whether the operation in which a rank waits can end.
type inquiry struct {
	d         *Detector
	operation Operation
	name      string
	members   func() []int // the ranks to ask

	mu    sync.Mutex
	over  bool
	round uint32 // of the last question
	asked time.Time
	rest  time.Duration // until the next question
	timer *time.Timer
	seen  map[int]sight // by rank: where it waits for this one
}

// sight is where a rank is, and since when it has been seen there.
type sight struct {
	flight.Position
	since time.Time
}

// Inquire asks members repeatedly, until stop, whether they are in a call that needs this rank, which waits in an
// operation.
func (d *Detector) Inquire(o Operation, name string, members func() []int) (stop func()) {
	if d == nil {
		return func() {}
	}
	q := &inquiry{d: d, operation: o, name: name, members: members, round: d.Asked(), rest: flight.Prompt,
		seen: make(map[int]sight)}
	q.mu.Lock()
	defer q.mu.Unlock()
	d.last.Store(q)
	q.timer = time.AfterFunc(flight.Prompt, q.ask)
	return q.stop
}

// Asked returns how many questions this rank has asked about its operations so far.
func (q *inquiries) Asked() uint32 {
	last := q.last.Load()
	if last == nil {
		return 0
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	return last.round
}

func (q *inquiry) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.timer.Stop()
}

// ask asks whether the others wait for this rank, less and less often.
func (q *inquiry) ask() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over || !q.d.comm.Healthy() {
		return
	}
	q.round++
	q.asked = time.Now()
	for _, rank := range q.members() {
		if rank != q.d.rank {
			q.d.tell(rank, &inquiryMessage{What: inquiryAsks, Round: q.round, Operation: q.operation})
		}
	}
	q.timer.Reset(q.rest)
	q.rest = min(2*q.rest, maxRest)
}

// take takes the answer of a rank that waits for this one.
func (q *inquiry) take(from int, m *inquiryMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	comm, at := q.d.comm, &m.at[0]
	if q.over || m.Operation != q.operation || comm.Pending() || !slices.Contains(q.members(), from) ||
		comm.HasMade(&at.Call, from) || !comm.Healthy() {
		return
	}
	if m.What == inquiryNeeds || m.Round == q.round && q.stays(from, at) {
		q.over = true
		comm.Mismatched(q.operation, q.name, &wire.MismatchError{Rank: from, Seq: q.operation.Number, TheirSeq: at.Call.Seq,
			Field: "operation", Mine: q.name, Theirs: at.Call.Name()})
	}
}

// stays reports whether a rank has been there for long enough. The inquiry is locked.
func (q *inquiry) stays(rank int, at *edge) bool {
	if before, ok := q.seen[rank]; ok && before.Position == at.position() {
		return q.asked.Sub(before.since) >= q.d.limits.Holds
	}
	q.seen[rank] = sight{at.position(), time.Now()}
	q.rest = min(q.rest, q.d.limits.Still)
	return false
}

// inquiryMessage is a message about an operation beside the data path in which a rank waits.
type inquiryMessage struct {
	What, Round uint32
	Operation   Operation
	at          []edge // of an answer: where the sender is
}

// The kinds of inquiry messages.
const (
	inquiryAsks  uint32 = iota // does the receiver wait for the sender?
	inquiryNeeds               // the sender needs the receiver to begin the call in which the sender is
	inquiryWaits               // the sender waits for the receiver there
)

func (d *Detector) tell(rank int, m *inquiryMessage) {
	d.comm.Send(rank, control.KindInquiry, m.encode())
}

// inquiryBytes is the length of a message without an edge.
var inquiryBytes = binary.Size([2]uint32{}) + binary.Size(Operation{})

func (m *inquiryMessage) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, m.What)
	b = binary.LittleEndian.AppendUint32(b, m.Round)
	b = binary.LittleEndian.AppendUint64(b, m.Operation.Group)
	b = binary.LittleEndian.AppendUint64(b, m.Operation.Number)
	return append(b, encodeEdges(m.at)...)
}

// decodeInquiry returns the message in b, from a rank of size.
func decodeInquiry(b []byte, from, size int) (m inquiryMessage, ok bool) {
	if len(b) < inquiryBytes {
		return m, false
	}
	m.What, m.Round = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	m.Operation = Operation{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	if m.at, ok = decodeEdges(b[inquiryBytes:], size); !ok || m.What > inquiryWaits {
		return m, false
	}
	if m.What == inquiryAsks {
		return m, len(m.at) == 0
	}
	return m, len(m.at) == 1 && int(m.at[0].Rank) == from
}

// HandleInquiry takes a message of kind control.KindInquiry from a rank: a question, which it answers if this rank
// waits for the one that asks, or an answer.
func (d *Detector) HandleInquiry(from int, body []byte) {
	if d == nil || from == d.rank || !d.comm.Healthy() {
		return
	}
	m, ok := decodeInquiry(body, from, d.size)
	if !ok {
		return
	}
	if m.What != inquiryAsks {
		if q := d.last.Load(); q != nil {
			q.take(from, &m)
		}
		return
	}
	at, certain, waits := d.blockedBy(from)
	if !waits || d.comm.HasBegun(m.Operation) {
		return
	}
	what := inquiryWaits
	if certain {
		what = inquiryNeeds
	}
	d.tell(from, &inquiryMessage{what, m.Round, m.Operation, []edge{at}})
}

// blockedBy returns where this rank waits for another one, in a call that blocks the goroutine which makes its calls.
// Certain: it needs the other one to begin that call.
func (d *Detector) blockedBy(other int) (e edge, certain, ok bool) {
	s := d.stall(0)
	if s == nil || !d.comm.BlocksCaller() {
		return e, false, false
	}
	if later := d.stall(0); later == nil || later.Number != s.Number { // another call is blocking the caller
		return e, false, false
	}
	if x := &s.Calls[0]; x.Peer == 0 && s.Needs.Needs(d.rank, other, int(x.Root)) {
		return s.in(d.rank, x), true, true
	}
	if e, ok = s.receive(d.rank, other); ok {
		return e, true, true
	}
	e, ok = s.edge(d.rank, other)
	return e, false, ok
}
