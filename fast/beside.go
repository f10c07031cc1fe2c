package fast

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Agree, Shrink, Grow and Group work beside the data path: each ends only when all its ranks have begun it. A rank Y
// that waits in one of them for a rank X, which is in a call that Y has to make first, waits for ever, as X does. So Y,
// when it has waited for a moment, asks the others, again and again, whether they are in such a call. Why an answer can
// be believed:
//
// X answers only from a call that blocks the goroutine which makes the calls of its rank, and only if it has not begun
// what Y waits in. It begins that no earlier than its call is over, because both take Comm.busy. Y, which holds that,
// and has no started calls that are not over, begins no call before what it waits in is over; and that is not before X
// has begun it. So if X's call needs that Y begins it, as those do that certain.go believes, and Y has not begun it
// when the answer comes, then neither goes on: that holds however old the answer is, and whatever is on its way. If X
// merely waits for Y, it has to say so twice, as long apart as a ring has to hold, and its transport must have moved
// nothing in between: see detector.
//
// A rank that computes answers nothing, nor does one whose call Y has made already: the counts of calls on Y tell.
// Shrink alone may begin while a call of its rank runs, so that it gets ranks out of calls after a failure. A rank
// whose calls run in one goroutine, and whose Shrink on a healthy communicator in another one, is therefore told that
// the two do not match.
//
// Only the end of a context would end the wait of one of the two. They do not match all the same.

// beside is an operation beside the data path.
type beside struct {
	Group  uint64 // what the groups of its ranks have in common; 0: it is an agreement
	Number uint64 // among the agreements, or these groups, from 1
}

// reserve keeps other goroutines from making calls on c, until busy is unset, while this one is in an operation beside
// the data path. On a communicator that is not healthy there are no more calls: nothing is reserved.
func (c *Comm) reserve(name string) (reserved bool, err error) {
	switch {
	case c.State() != Healthy:
		return false, nil
	case c.busy.Set():
		return true, nil
	case c.State() != Healthy: // the call that runs ends because of that
		return false, nil
	}
	return false, c.refusedError(name, ErrConcurrentUse)
}

// hasBegun reports whether this rank has begun b, or never will.
func (c *Comm) hasBegun(b beside) bool {
	if b.Group != 0 {
		c.groups.mu.Lock()
		defer c.groups.mu.Unlock()
		return c.groups.made[b.Group] >= b.Number
	}
	return c.membership.HasBegun(b.Number)
}

// heldUp returns where this rank waits for another one, in a call that blocks the goroutine which makes its calls.
// Certain: it needs that the other one begins that call.
func (c *Comm) heldUp(by int) (h edge, certain, ok bool) {
	s := c.waitState(0)
	if s == nil || !c.blocksCaller() {
		return h, false, false
	}
	if later := c.waitState(0); later == nil || later.Number != s.Number { // what blocks the caller is another call
		return h, false, false
	}
	if x := &s.Calls[0]; x.Peer == 0 && s.Needs.Needs(c.rank, by, int(x.Root)) {
		return s.in(c.rank, x), true, true
	}
	if h, ok = s.receive(c.rank, by); ok {
		return h, true, true
	}
	h, ok = s.edge(c.rank, by)
	return h, false, ok
}

// blocksCaller reports whether the call that runs is no started one, or one for which a call that is not started waits.
func (c *Comm) blocksCaller() bool {
	q := c.queue.Load()
	return q == nil || q.pending.Load() == 0 || q.drains.Load()
}

// inquiry is what a rank does to find out that an operation beside the data path never ends.
type inquiry struct {
	comm    *Comm
	in      beside
	name    string       // of the operation
	members func() []int // whom to ask, by rank

	mu    sync.Mutex
	over  bool
	round uint32 // of the question that was asked last
	asked time.Time
	rest  time.Duration // until the next one
	timer *time.Timer
	seen  map[int]sight // by rank: where it waits for this one
}

// sight is where a rank stands, and since when it has been seen there.
type sight struct {
	flight.Position
	since time.Time
}

// inquire has this rank, which has reserved c, ask others as long as it waits in an operation, until over.
func (c *Comm) inquire(in beside, name string, members func() []int) (over func()) {
	if c.detector == nil {
		return func() {}
	}
	q := &inquiry{comm: c, in: in, name: name, members: members, rest: flight.Prompt, seen: make(map[int]sight)}
	if before := c.inquiry.Load(); before != nil {
		q.round = before.round // it is over
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	c.inquiry.Store(q)
	q.timer = time.AfterFunc(flight.Prompt, q.ask)
	return q.stop
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
	if q.over || q.comm.State() != Healthy {
		return
	}
	q.round++
	q.asked = time.Now()
	for _, rank := range q.members() {
		if rank != q.comm.rank {
			q.comm.sendWords(rank, &words{What: wordsAsk, Round: q.round, In: q.in})
		}
	}
	q.timer.Reset(q.rest)
	q.rest = min(2*q.rest, maxRest)
}

// answered takes the word of a rank that waits for this one.
func (q *inquiry) answered(from int, w *words) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c, at := q.comm, &w.at[0]
	calls := c.queue.Load()
	idle := calls == nil || calls.pending.Load() == 0
	if q.over || w.In != q.in || !idle || !slices.Contains(q.members(), from) || c.exec.HasMade(&at.Call, from) || c.State() != Healthy {
		return
	}
	if w.What == wordsNeed || w.Round == q.round && q.stays(from, at) {
		q.over = true
		c.condemnBeside(q, from, &at.Call)
	}
}

// stays reports whether a rank has stood there for long enough. The inquiry is locked.
func (q *inquiry) stays(rank int, at *edge) bool {
	times := q.comm.detector.limits
	if before, ok := q.seen[rank]; ok && before.Position == at.position() {
		return q.asked.Sub(before.since) >= times.holds
	}
	q.seen[rank] = sight{at.position(), time.Now()}
	q.rest = min(q.rest, times.still)
	return false
}

// condemnBeside gives c up because this rank waits in an operation for a rank that is in a call.
func (c *Comm) condemnBeside(q *inquiry, rank int, theirs *wire.Call) {
	err := &MismatchError{Rank: rank, Seq: q.in.Number, TheirSeq: theirs.Seq, Field: "operation", Mine: q.name,
		Theirs: theirs.PrimitiveName.String()}
	n := noticeOf(Failed, c.rank, q.in.Number, err)
	if q.in.Group == 0 && q.name != agree.Shrink.String() {
		n.Agreement = q.in.Number
	}
	c.condemn(Failed, err, n)
	if c.Err() == error(err) { // and not because of something else meanwhile
		c.membership.CallOff(n.Agreement, err)
	}
}

// words are what ranks send each other about an operation beside the data path in which one of them waits.
type words struct {
	What, Round uint32
	In          beside
	at          []edge // of an answer: where the sender is
}

// What words say.
const (
	wordsAsk  uint32 = iota // does the receiver wait for the sender?
	wordsNeed               // it needs that the receiver begins the call in which the sender is
	wordsWait               // it waits for the receiver there
)

func (c *Comm) sendWords(rank int, w *words) {
	c.world.plane.Send(c.process(rank), wire.Topic{Comm: c.id, Kind: control.KindBeside}, w.encode())
}

// wordsBytes is the length of words without a edge.
var wordsBytes = binary.Size([2]uint32{}) + binary.Size(beside{})

func (w *words) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, w.What)
	b = binary.LittleEndian.AppendUint32(b, w.Round)
	b = binary.LittleEndian.AppendUint64(b, w.In.Group)
	b = binary.LittleEndian.AppendUint64(b, w.In.Number)
	return append(b, encodeEdges(w.at)...)
}

// decodeWords returns the words in b, of a rank of size.
func decodeWords(b []byte, from, size int) (w words, ok bool) {
	if len(b) < wordsBytes {
		return w, false
	}
	w.What, w.Round = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	w.In = beside{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	if w.at, ok = decodeEdges(b[wordsBytes:], size); !ok || w.What > wordsWait {
		return w, false
	}
	if w.What == wordsAsk {
		return w, len(w.at) == 0
	}
	return w, len(w.at) == 1 && int(w.at[0].Rank) == from
}

// heardWords takes words of another rank: it answers a question, if this rank waits for the one that asks, or has an
// answer.
func (c *Comm) heardWords(m wire.Note) {
	from := c.rankOf(m.From)
	w, ok := decodeWords(m.Body, from, c.size)
	if from < 0 || from == c.rank || !ok || c.track == nil || c.State() != Healthy {
		return
	}
	if w.What != wordsAsk {
		if q := c.inquiry.Load(); q != nil {
			q.answered(from, &w)
		}
		return
	}
	at, certain, waits := c.heldUp(from)
	if !waits || c.hasBegun(w.In) {
		return
	}
	what := wordsWait
	if certain {
		what = wordsNeed
	}
	c.sendWords(from, &words{what, w.Round, w.In, []edge{at}})
}
