package tcp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/links"
	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	rank      int
	beside    int           // ranks on this host, this one included: they share its processors
	patience  time.Duration // how long it looks at its sockets before it sleeps
	encrypted bool          // its links are
	connect   func(peer int)
	links     []link // by rank; its own is unused
	poller    waiter

	call        *wire.Call
	fingerprint uint64
	history     talk.History // the calls begun last

	touched  []int         // the ranks of the links of the Exchange in progress
	active   []int         // those of them with messages that are not complete
	open     int           // how many messages are not complete
	moved    time.Time     // when something was done last; set when there is nothing to do
	napped   bool          // the last sleep was in vain
	moves    uint64        // how often something was sent or received
	progress atomic.Uint64 // moves, as far as others are to know
	awaited  links.Awaited // what Waiting gives

	end      links.End
	arrivals []arrival   // links for the next look; end is locked
	arrived  atomic.Bool // there are arrivals
}

// Follow has this rank's messages written to t. It is for an endpoint that was not used yet.
func (e *Endpoint) Follow(t *events.Trail) {
	for i := range e.links {
		l := &e.links[i]
		l.trail, l.in.flow, l.out.flow = t, t.Flow(i), t.Flow(i)
	}
}

// New is rank's end of its links, encrypted or not, to all of size ranks, of which beside are on this host, itself
// included. connect is called, once for each peer, when a link to it is first needed; it must not block. Somebody then
// calls Attach, or Broken.
func New(rank, size, beside int, encrypted bool, connect func(peer int)) *Endpoint {
	e := &Endpoint{rank: rank, beside: beside, patience: patienceFor(beside, cores), encrypted: encrypted, connect: connect, poller: new(poller),
		links: make([]link, size), call: new(wire.Call)}
	e.fingerprint = e.call.Fingerprint()
	for peer := range e.links {
		e.links[peer] = link{peer: peer, partner: talk.Partner{Rank: peer}}
	}
	return e
}

// Begin says which call the following messages belong to.
func (e *Endpoint) Begin(call wire.Mark) {
	e.call, e.fingerprint = call.Call, call.Fingerprint
	e.history.Begin(call.Call)
}

// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed. What
// was sent may still be on its way then. After an error the endpoint is only good for Close.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	err := e.end.Reason()
	if err == nil {
		err = e.list(sends, recvs)
	}
	if err == nil {
		err = e.complete(ctx)
	}
	return e.end.Outcome(err)
}

// list prepares the messages of an Exchange.
func (e *Endpoint) list(sends []wire.Send, recvs []wire.Recv) error {
	for i := range sends {
		s := &sends[i]
		l, err := e.touch(s.Peer)
		if err != nil {
			return err
		}
		call, fingerprint := e.callOf(s.Call)
		l.sends = append(l.sends, outgoing{Send: s, call: call, fingerprint: fingerprint})
		e.open++
	}
	for i := range recvs {
		r := &recvs[i]
		l, err := e.touch(r.Peer)
		if err != nil {
			return err
		}
		call, fingerprint := e.callOf(r.Call)
		l.recvs = append(l.recvs, incoming{Recv: r, call: call, fingerprint: fingerprint, after: l.sendOf(r)})
		e.open++
	}
	for _, peer := range e.touched {
		if l := &e.links[peer]; l.socket == nil && !l.asked {
			l.asked = true
			e.connect(peer)
		}
	}
	return e.adopt()
}

// touch is the link to peer, which has messages in this Exchange.
func (e *Endpoint) touch(peer int) (*link, error) {
	if err := wire.CheckPeer(e.rank, peer, len(e.links)); err != nil {
		return nil, err
	}
	l := &e.links[peer]
	if len(l.sends)+len(l.recvs) == 0 {
		e.touched, e.active = append(e.touched, peer), append(e.active, peer)
	}
	return l, nil
}

func (e *Endpoint) callOf(c *wire.Call) (*wire.Call, uint64) {
	if c == nil {
		return e.call, e.fingerprint
	}
	return c, c.Fingerprint()
}

// complete drives the listed messages until all are complete or one fails.
func (e *Endpoint) complete(ctx context.Context) error {
	e.moved, e.napped = time.Time{}, false
	for {
		moved, err := e.advance()
		switch {
		case err != nil || e.open == 0:
			return err
		case moved:
			e.awaited.Forget()
			if e.moves%64 != 0 {
				continue
			}
			e.progress.Store(e.moves)
			if ctx.Err() != nil || e.end.Failed() != nil {
				return e.failure(ctx)
			}
		case !e.look():
			e.progress.Store(e.moves)
			if err := e.sleep(ctx); err != nil {
				return err
			}
		}
	}
}

// Moved is a number that has grown if this rank has sent or received something since it was less. It may be some messages
// late while the rank moves fast, and is not when it waits.
func (e *Endpoint) Moved() uint64 { return e.progress.Load() }

// advance does what can be done without waiting, and tells whether that was anything.
func (e *Endpoint) advance() (moved bool, err error) {
	for i := 0; i < len(e.active); {
		l := &e.links[e.active[i]]
		pushed, err := e.push(l)
		if err != nil {
			return moved, err
		}
		pulled, err := e.pull(l)
		if err != nil {
			return moved, err
		}
		if pushed || pulled {
			moved, e.moved = true, time.Time{}
			e.moves++
		}
		if l.sending() != nil || l.receiving() != nil {
			i++
			continue
		}
		last := len(e.active) - 1
		e.active[i], e.active = e.active[last], e.active[:last]
	}
	return moved, nil
}

// forget ends the use of the caller's memory.
func (e *Endpoint) forget() {
	for _, peer := range e.touched {
		e.links[peer].forget()
	}
	e.touched, e.active, e.open = e.touched[:0], e.active[:0], 0
}
