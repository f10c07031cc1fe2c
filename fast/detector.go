package fast

import (
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/flight"

	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Ranks whose calls do not match may wait for each other in a ring of three or more, no two neighbours of which can
// tell. A call goes on only when all ranks that it waits for have done their part, so a ring of ranks that wait for
// each other, while nothing is on its way between them, never goes on: it is a deadlock in the AND model, and found by
// edge chasing (Chandy, Misra and Haas, "Distributed Deadlock Detection", 1983). A rank that has waited for a while
// sends a probe to those that it waits for. Who waits too adds itself and passes it on to those that it waits for
// itself, once. A probe that comes back has found a ring. A rank that computes is in no call, or was seen to move: it
// passes nothing on.
//
// What a probe has found is no proof, but for the rings of certain.go: it tells of different moments, and may have
// overtaken data. So the rank that began asks all others of the ring, again and again: each answers, for itself alone,
// if it is still in the operation of which the probe told, and its transport has moved nothing since. Once all have
// answered, and all have answered again to a later question, none has moved in between. That time is longer than a
// process may be silent (times.holds), because of what may be on its way: a rank takes what has come within 10 ms, and
// a connection that has lost something sends it again after at most as long as the network has been interrupted, which
// the control plane too would have noticed.
//
// What remains: a network that holds back the data of a connection for longer than that while control messages pass. It
// has to hit what only one rank of the ring waits for, but that rank has gone on: a ring of which each rank is in the
// same call as the next is none, because the algorithm was proved to end, and neither is one of a sender and its
// receiver. And a rank that lies about itself can close a ring of ranks that truly wait for it in turn; it could also
// make them wait. And a rank whose transport has its message in hand, but whose thread gets no processor for all that
// time, while the goroutine of its control plane does: it has not moved, and says so. The thread is ready to run, so
// that a system that starves it alone for seconds has to treat threads of one process unequally; where a debugger or a
// tool does that, the times are to be longer: they follow the heartbeat timeout. Not looked for are rings through
// several communicators, of more than maxRing ranks, and through a rank that has begun more than maxTogether
// point-to-point calls at once.

// limits is how long the search for deadlocks takes.
type limits struct {
	still time.Duration // after how long without progress a rank begins; it looks twice as often
	holds time.Duration // how long a ring has to stay as it is
}

// usualStill is how long a rank has not moved when it begins, and maxHolds how long a ring has to stay at most: a
// connection waits for no longer before it sends again.
const (
	usualStill = time.Second
	maxHolds   = 2 * time.Minute
)

// holdsOver returns how long a ring has to stay as it is among processes that may be silent for so long: longer than
// that.
func holdsOver(silent time.Duration) time.Duration {
	return min(silent+silent/4, maxHolds)
}

// over are times for processes that may be silent for so long, if that is longer than usual; 0: as usual.
func (t limits) over(silent time.Duration) limits {
	if t.holds == 0 && silent > 0 {
		t.holds = holdsOver(max(silent, mesh.DefaultHeartbeatTimeout))
	}
	return t
}

func (t limits) orUsual() limits {
	if t.still == 0 {
		t.still = usualStill
	}
	if t.holds == 0 {
		t.holds = holdsOver(mesh.DefaultHeartbeatTimeout)
	}
	return t
}

// detector is one rank's part in the search for deadlocks of a communicator.
type detector struct {
	comm   *Comm
	limits limits

	mu     sync.Mutex
	round  uint32          // of its own probes
	sought flight.Position // where this rank stood when it looked for a ring last
	rest   time.Duration   // for how long it has to stand there to look again
	passed map[uint32]seen // by the rank that began: the probe that was passed on last
	// The ring that was found, and who has answered the question in this round; nil: none.
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

// maxSilences is how many questions may remain without all answers before a ring is forgotten.
const maxSilences = 4

// look asks about the ring that was found or, less and less often, looks for one. The rank has been idle.
func (c *detector) look() {
	s := c.comm.waitState(flight.Prompt / 2)
	if s == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ring != nil && c.silences < maxSilences && s.isAt(&c.ring[0]):
		c.ask()
	default:
		c.ring, c.proves = nil, false
		c.seek(s)
	}
}

// maxRest is the longest time between two searches of an idle rank.
const maxRest = 8 * time.Second

// seek sends probes to ranks that this one waits for, unless that was done recently. The detector is locked.
func (c *detector) seek(s *waitState) {
	if c.sought == s.Position && s.Idle < c.rest {
		return
	}
	c.sought, c.rest = s.Position, s.Idle+min(s.Idle, maxRest)
	c.round++
	c.passOn(s, &probe{What: probeProves, Round: c.round})
	if s.Idle < c.limits.still {
		c.rest = min(c.rest, c.limits.still)
		return
	}
	c.round++
	c.passOn(s, &probe{What: probeSeeks, Round: c.round})
}

// longWaitState returns the rank's wait state for the search that takes time.
func (c *detector) longWaitState() *waitState { return c.comm.waitState(c.limits.still / 2) }

// passOn sends a probe on to the ranks that this one waits for.
func (c *detector) passOn(s *waitState, p *probe) {
	if len(p.path) == maxRing {
		return
	}
	hopTo := s.edge
	if p.What == probeProves {
		hopTo = s.receive
	}
	for _, rank := range s.Waits {
		if h, ok := hopTo(c.comm.rank, rank); ok {
			c.send(rank, &probe{p.What, p.Round, append(slices.Clip(p.path), h)})
		}
	}
}

func (c *detector) send(rank int, p *probe) {
	c.comm.world.plane.Send(c.comm.process(rank), wire.Topic{Comm: c.comm.id, Kind: control.KindProbe}, p.encode())
}

// ask asks all other ranks of the ring whether they still stand where they stood. The detector is locked.
func (c *detector) ask() {
	c.round++
	c.silences++
	c.question = time.Now()
	c.answered = make([]bool, len(c.ring))
	c.answered[0] = true
	what := probeAsks
	if c.proves {
		what = probeVerifies
	}
	for _, h := range c.ring[1:] {
		c.send(int(h.Rank), &probe{what, c.round, c.ring})
	}
}

// probed takes a probe that has come.
func (c *Comm) probed(m wire.Note) {
	from := c.rankOf(m.From)
	p, ok := decodeProbe(m.Body, c.size)
	if from < 0 || !ok || c.detector == nil || c.termination.Load() != nil || c.closed.Load() {
		return
	}
	switch x := c.detector; p.What {
	case probeSeeks:
		x.pursue(from, &p)
	case probeProves:
		x.prove(from, &p)
	case probeAsks, probeVerifies:
		x.asked(from, &p)
	case probeAnswers:
		if ring := x.confirm(from, p.Round); ring != nil {
			c.condemnRing(ring)
		}
	}
}

// pursue takes a probe that looks for a ring: it passes it on, or has found one. A ring is found by the lowest of its
// ranks from which the next one departs.
func (c *detector) pursue(from int, p *probe) {
	last, first, s := &p.path[len(p.path)-1], &p.path[0], c.longWaitState()
	if s == nil || int(last.Rank) != from || from == c.comm.rank || !s.blocks(last, c.comm.rank) {
		return
	}
	departs := s.departs(last)
	if len(p.path) == 1 && !departs || departs && last.Rank < first.Rank {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch at := placeIn(p.path, c.comm.rank); {
	case at < 0 && c.isNew(first, p.Round):
		c.passOn(s, p)
	case at == 0 && c.ring == nil && len(p.path) > 1 && s.isAt(first):
		c.ring, c.silences, c.since = p.path, 0, time.Time{}
		c.ask()
	}
}

// isNew takes note of a probe, and tells whether it comes for the first time. The detector is locked.
func (c *detector) isNew(first *edge, round uint32) bool {
	if c.passed == nil {
		c.passed = make(map[uint32]seen) // at most one for each rank
	}
	now := seen{round, first.position()}
	was := c.passed[first.Rank]
	c.passed[first.Rank] = now
	return was != now
}

// asked answers the question whether it is true what a ring says of this rank.
func (c *detector) asked(from int, p *probe) {
	at := placeIn(p.path, c.comm.rank)
	if int(p.path[0].Rank) != from || at < 1 || len(p.path) < 2 {
		return
	}
	holds := c.stays
	if p.What == probeVerifies {
		holds = c.verifies
	}
	if holds(p.path, at) {
		c.send(from, &probe{What: probeAnswers, Round: p.Round})
	}
}

// stays reports whether this rank still stands where a ring says, in which its place is at.
func (c *detector) stays(ring []edge, at int) bool {
	s, next := c.longWaitState(), &ring[(at+1)%len(ring)]
	h, waits := s.edge(c.comm.rank, int(next.Rank))
	return waits && h == ring[at] && s.blocks(&ring[at-1], c.comm.rank)
}

// confirm takes an answer. It is the ring if all have answered for long enough.
func (c *detector) confirm(from int, round uint32) []edge {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := placeIn(c.ring, from)
	if at < 0 || round != c.round || c.answered[at] {
		return nil
	}
	c.answered[at] = true
	switch {
	case slices.Contains(c.answered, false):
		return nil
	case c.proves && c.comm.waitState(0).isIn(&c.ring[0]):
		return c.ring
	case c.proves || !c.longWaitState().isAt(&c.ring[0]):
		return nil
	}
	c.silences = 0
	if c.since.IsZero() {
		c.since = time.Now()
	} else if c.question.Sub(c.since) >= c.limits.holds { // not when they answered: that may be read late
		return c.ring
	}
	return nil
}
