// Package deadlock finds ranks that wait for each other for ever.
//
// Ranks whose calls do not match may wait in a ring of three or more, where no two neighbours can tell. A call goes on
// only when all ranks that it waits for have done their part. So ranks that wait for each other in a ring never go on
// if no message is on its way between them: this is a deadlock in the AND model. Such rings are found by edge chasing
// (Chandy, Misra and Haas, "Distributed Deadlock Detection", 1983). A rank that has waited for a while sends a probe to
// the ranks that it waits for. A rank that waits too adds itself, and passes the probe on to those that it waits for,
// once. A probe that comes back has found a ring. A rank that computes, or was seen to make progress, passes nothing
// on.
//
// A probe is no proof, except of the rings in provable.go: it reports different moments, and may have overtaken data.
// So the rank that began asks all others of the ring, repeatedly. Each answers if it is still in the operation of which
// the probe told, and its transport has moved nothing since. Once all have answered one question and later another,
// none has moved in between. The time between the two exceeds the time for which a process may be silent
// (Limits.Holds), because of data on its way: a rank takes what has arrived within 10 ms, and a connection that lost
// something retransmits after at most as long as the network was interrupted, which the control plane would have
// noticed too.
//
// What can still go wrong:
//   - A network holds back the data of a connection for longer than that while control messages pass. This does harm
//     only to data that one rank of the ring alone waits for, and whose sender has gone on. A ring in which each rank
//     is in the same call as the next is not believed, because the algorithm was proved to end; nor is one of a sender
//     and its receiver.
//   - A rank that lies about itself can close a ring of ranks that do wait for it in turn. It could also just make them
//     wait.
//   - The thread of a rank whose transport has the message in hand gets no processor for all that time, while the
//     goroutine of its control plane does. For that, a system has to treat the threads of a process unequally. Where a
//     debugger or a tool does so, a longer heartbeat timeout makes these times longer.
//
// Not found are rings through several communicators, rings of more than maxRing ranks, and rings through a rank that
// has more point-to-point calls in progress than a flight.Stall may have.
package deadlock

import (
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Limits are the times of the search. The zero Limits are those of processes with the default heartbeat timeout.
type Limits struct {
	Still time.Duration // how long a rank makes no progress before it searches
	Holds time.Duration // how long a ring has to stay as it is
}

// usualStill is the default of Still, and maxHolds the most of Holds: a connection retransmits after this time at most.
const (
	usualStill = time.Second
	maxHolds   = 2 * time.Minute
)

// Over returns t with Holds set, unless it is set already, to more than processes may be silent; 0 is the default
// heartbeat timeout.
func (t Limits) Over(silent time.Duration) Limits {
	if t.Holds == 0 {
		silent = max(silent, mesh.DefaultHeartbeatTimeout)
		t.Holds = min(silent+silent/4, maxHolds)
	}
	return t
}

// orUsual returns t with the default times for those that are 0.
func (t Limits) orUsual() Limits {
	if t.Still == 0 {
		t.Still = usualStill
	}
	return t.Over(0)
}

// Communicator is what a Detector needs of its communicator.
type Communicator interface {
	// Healthy reports whether calls can be made.
	Healthy() bool
	// Send sends a control message to a rank.
	Send(to int, kind uint8, body []byte)
	// Fail gives the communicator up with err because of a ring, of which this rank is the first, in call seq. Explain
	// takes the ring on the other ranks.
	Fail(err error, seq uint64, ring []byte)
	Caller
}

// Recorder knows where this rank is. It is a flight.Track.
type Recorder interface {
	Stall(atLeast time.Duration) *flight.Stall
	SendsBegun(to int) uint64
}

// Detector is one rank's part in the search for deadlocks of a communicator. A nil Detector ignores messages.
type Detector struct {
	rank, size int
	limits     Limits
	comm       Communicator
	record     Recorder
	inquiries

	mu     sync.Mutex
	round  uint32          // of its own probes
	sought flight.Position // where this rank was in its last search
	rest   time.Duration   // how long it has to stay there before the next one
	passed map[uint32]seen // by the rank that began: the probe that was passed on last
	// The ring that was found, and who has answered the question of this round; nil: none.
	ring     []edge
	proves   bool // it needs no time
	answered []bool
	silences int       // questions in a row that not all have answered
	since    time.Time // when all had answered first; zero: never
	question time.Time // when they were asked last
}

// seen tells a probe of one rank from its next.
type seen struct {
	round           uint32
	flight.Position // of the rank that began
}

// New returns the Detector of a rank.
func New(rank, size int, limits Limits, comm Communicator, record Recorder) *Detector {
	return &Detector{rank: rank, size: size, limits: limits.orUsual(), comm: comm, record: record}
}

// stall returns what this rank waits in, if it has made no progress for so long.
func (d *Detector) stall(atLeast time.Duration) *waitState {
	return (*waitState)(d.record.Stall(atLeast))
}

// longStall is stall for the search that takes time.
func (d *Detector) longStall() *waitState { return d.stall(d.limits.Still / 2) }

// maxSilences is how many questions may go without all answers before a ring is forgotten.
const maxSilences = 4

// Look asks about the ring that was found or, less and less often, searches for one. It is called repeatedly while the
// rank makes no progress.
func (d *Detector) Look() {
	s := d.stall(flight.Prompt / 2)
	if s == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ring != nil && d.silences < maxSilences && s.isAt(&d.ring[0]):
		d.ask()
	default:
		d.ring, d.proves = nil, false
		d.seek(s)
	}
}

// maxRest is the longest time between two searches of a rank that makes no progress.
const maxRest = 8 * time.Second

// seek sends probes to the ranks that this one waits for, unless it did so recently. The detector is locked.
func (d *Detector) seek(s *waitState) {
	if d.sought == s.Position && s.Idle < d.rest {
		return
	}
	d.sought, d.rest = s.Position, s.Idle+min(s.Idle, maxRest)
	d.round++
	d.passOn(s, &probe{What: probeProves, Round: d.round})
	if s.Idle < d.limits.Still {
		d.rest = min(d.rest, d.limits.Still)
		return
	}
	d.round++
	d.passOn(s, &probe{What: probeSeeks, Round: d.round})
}

// passOn sends a probe on to the ranks that this one waits for.
func (d *Detector) passOn(s *waitState, p *probe) {
	if len(p.path) == maxRing {
		return
	}
	edgeTo := s.edge
	if p.What == probeProves {
		edgeTo = s.receive
	}
	for _, rank := range s.Waits {
		if e, ok := edgeTo(d.rank, rank); ok {
			d.send(rank, &probe{p.What, p.Round, append(slices.Clip(p.path), e)})
		}
	}
}

func (d *Detector) send(rank int, p *probe) { d.comm.Send(rank, control.KindProbe, p.encode()) }

// ask asks all other ranks of the ring whether they are still where the ring says. The detector is locked.
func (d *Detector) ask() {
	d.round++
	d.silences++
	d.question = time.Now()
	d.answered = make([]bool, len(d.ring))
	d.answered[0] = true
	what := probeAsks
	if d.proves {
		what = probeVerifies
	}
	for _, e := range d.ring[1:] {
		d.send(int(e.Rank), &probe{what, d.round, d.ring})
	}
}

// HandleProbe takes a message of kind control.KindProbe from a rank.
func (d *Detector) HandleProbe(from int, body []byte) {
	if d == nil || !d.comm.Healthy() {
		return
	}
	p, ok := decodeProbe(body, d.size)
	if !ok {
		return
	}
	switch p.What {
	case probeSeeks:
		d.pursue(from, &p)
	case probeProves:
		d.prove(from, &p)
	case probeAsks, probeVerifies:
		d.answer(from, &p)
	case probeAnswers:
		if ring := d.confirm(from, p.Round); ring != nil {
			d.comm.Fail(ringError(ring, 0), ring[0].Call.Seq, encodeEdges(ring))
		}
	}
}

// pursue takes a probe that looks for a ring: it passes it on, or has found one. A ring is found by the lowest of its
// ranks from which the next one departs.
func (d *Detector) pursue(from int, p *probe) {
	last, first, s := &p.path[len(p.path)-1], &p.path[0], d.longStall()
	if s == nil || int(last.Rank) != from || from == d.rank || !s.blocks(last, d.rank) {
		return
	}
	departs := s.departs(last)
	if len(p.path) == 1 && !departs || departs && last.Rank < first.Rank {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch at := indexOf(p.path, d.rank); {
	case at < 0 && d.isNew(first, p.Round):
		d.passOn(s, p)
	case at == 0 && d.ring == nil && len(p.path) > 1 && s.isAt(first):
		d.ring, d.silences, d.since = p.path, 0, time.Time{}
		d.ask()
	}
}

// isNew reports whether a probe comes for the first time, and remembers it. The detector is locked.
func (d *Detector) isNew(first *edge, round uint32) bool {
	if d.passed == nil {
		d.passed = make(map[uint32]seen) // at most one for each rank
	}
	now := seen{round, first.position()}
	before := d.passed[first.Rank]
	d.passed[first.Rank] = now
	return before != now
}

// answer answers the question whether a ring is right about this rank, if it is.
func (d *Detector) answer(from int, p *probe) {
	at := indexOf(p.path, d.rank)
	if int(p.path[0].Rank) != from || at < 1 || len(p.path) < 2 {
		return
	}
	holds := d.stays
	if p.What == probeVerifies {
		holds = d.verifies
	}
	if holds(p.path, at) {
		d.send(from, &probe{What: probeAnswers, Round: p.Round})
	}
}

// stays reports whether this rank, which is ring[at], is still where the ring says.
func (d *Detector) stays(ring []edge, at int) bool {
	s, next := d.longStall(), &ring[(at+1)%len(ring)]
	e, waits := s.edge(d.rank, int(next.Rank))
	return waits && e == ring[at] && s.blocks(&ring[at-1], d.rank)
}

// confirm takes an answer. It returns the ring once all have answered for long enough.
func (d *Detector) confirm(from int, round uint32) []edge {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := indexOf(d.ring, from)
	if at < 0 || round != d.round || d.answered[at] {
		return nil
	}
	d.answered[at] = true
	switch {
	case slices.Contains(d.answered, false):
		return nil
	case d.proves && d.stall(0).isIn(&d.ring[0]):
		return d.ring
	case d.proves || !d.longStall().isAt(&d.ring[0]):
		return nil
	}
	d.silences = 0
	if d.since.IsZero() {
		d.since = time.Now()
	} else if d.question.Sub(d.since) >= d.limits.Holds { // not when they answered: that may be read late
		return d.ring
	}
	return nil
}

// Explain returns what a ring that rank by has found means to this rank, or nil if it says nothing about it. It is
// believed if this rank is where it says. A rank that lies here has given up, as it may in any case.
func (d *Detector) Explain(ring []byte, by int) error {
	if d == nil {
		return nil
	}
	edges, ok := decodeEdges(ring, d.size)
	if !ok || len(edges) < 2 || int(edges[0].Rank) != by {
		return nil
	}
	if at := indexOf(edges, d.rank); at > 0 && d.stall(0).isIn(&edges[at]) {
		return ringError(edges, at)
	}
	return nil
}

// ringError returns what a ring means to the rank ring[at]: a MismatchError with the next rank, of those whose call has
// to be the same as its own, that is in another one. If all are in point-to-point calls it is a DeadlockError.
func ringError(ring []edge, at int) error {
	mine := &ring[at]
	for i := range ring {
		theirs := &ring[(at+1+i)%len(ring)]
		if mine.Call.Peer != 0 && theirs.Call.Peer != 0 { // of different pairs
			continue
		}
		if err := wire.Mismatch(&mine.Call, &theirs.Call, int(theirs.Rank)); err != nil {
			return err
		}
	}
	e := new(wire.DeadlockError)
	for i := range ring {
		e.Add(int(ring[i].Rank), &ring[i].Call)
	}
	return e
}
