package tcp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	linkbase.Endpoint

	beside    int           // ranks on this host, this one included: they share its processors
	patience  time.Duration // how long it looks at its sockets before it sleeps
	encrypted bool          // its links are
	connect   func(peer int)
	links     []link // by rank; its own is unused
	poller    waiter
	napped    bool // the last sleep was in vain

	arrivals []arrival     // links for the next look; End is locked, as for what follows
	limits   []*time.Timer // of connections that may be on their way
	arrived  atomic.Bool   // there are arrivals
}

// Follow has this rank's messages written to t. It is for an endpoint that was not used yet.
func (e *Endpoint) Follow(t *events.Trail) {
	for i := range e.links {
		l := &e.links[i]
		l.trail, l.in.flow, l.out.flow = t, t.Flow(i), t.Flow(i)
	}
}

// New returns rank's end of its links, encrypted or not, to all of size ranks, of which beside are on this host, itself
// included. connect is called, once for each peer, when a link to it is first needed; it must not block. Somebody then
// calls Attach, or Broken.
func New(rank, size, beside int, encrypted bool, connect func(peer int)) *Endpoint {
	e := &Endpoint{beside: beside, patience: patienceFor(beside, cores), encrypted: encrypted, connect: connect, poller: new(poller),
		links: make([]link, size)}
	all := make([]*linkbase.Link, size)
	for peer := range all {
		all[peer] = &e.links[peer].Link
	}
	e.Init(rank, all)
	return e
}

// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed. What
// was sent may still be on its way then. After an error the endpoint is only good for Close.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	err := e.list(sends, recvs)
	if err == nil {
		err = e.complete(ctx)
	}
	return e.End.Outcome(err)
}

// list prepares the messages of an Exchange, and asks for the links that they need.
func (e *Endpoint) list(sends []wire.Send, recvs []wire.Recv) error {
	if err := e.List(sends, recvs); err != nil {
		return err
	}
	for _, peer := range e.Touched {
		if l := &e.links[peer]; l.socket == nil && !l.asked {
			l.asked = true
			e.connect(peer)
		}
	}
	return e.adopt()
}

// complete drives the listed messages until all are complete or one fails.
func (e *Endpoint) complete(ctx context.Context) error {
	e.napped = false
	for {
		moved, err := e.advance()
		switch {
		case err != nil || e.Open == 0:
			return err
		case moved:
			if e.WentOn() {
				err = e.Failure(ctx)
			}
		case !e.look():
			err = e.sleep(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// advance does what can be done without waiting, and tells whether that was anything.
func (e *Endpoint) advance() (moved bool, err error) {
	for i := 0; i < len(e.Active); i = e.Next(i) {
		l := &e.links[e.Active[i]]
		pushed, err := e.push(l)
		if err != nil {
			return moved, err
		}
		pulled, err := e.pull(l)
		if err != nil {
			return moved, err
		}
		if pushed || pulled {
			e.Went()
			moved = true
		}
	}
	return moved, nil
}
