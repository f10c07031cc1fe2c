package rdma

import (
	"context"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Endpoint is one rank's end of its links to all others. It is in use while an Exchange is in progress, or something is
// lent.
type Endpoint struct {
	linkbase.Endpoint

	rails        *rails
	slots, bytes uint32 // of each link
	tell         func(peer int, card []byte)
	links        []link // by rank; its own is unused
	known        registry

	lent        int    // how many slots were lent
	said        []byte // what another rank has said besides
	completions [32]Completion
	patient     bool    // the next look at the queues may take a microsecond, because there is nothing else to do
	batch       []Write // to be posted
	aim         *lane   // on which

	lines   []*line // by rank, what was made for a link; nil: nothing so far; End is locked for this and what follows
	servers int     // those who serve lines
	freed   bool    // what there is of the device is to be given back when nobody does any more
	changed atomic.Bool
}

// New returns rank's end of its links to all of size ranks, over one to MostRails domains, which are the endpoint's
// from now on. tell brings a card to another rank's Told, in the order of the calls; it must not block.
func New(rank, size int, domains []Domain, tell func(peer int, card []byte)) *Endpoint {
	return newEndpoint(rank, size, domains, tell, defaultSlots, defaultBytes)
}

// newEndpoint is New with so many slots of so many bytes for each link.
func newEndpoint(rank, size int, domains []Domain, tell func(peer int, card []byte), slots, bytes uint32) *Endpoint {
	r := newRails(domains)
	e := &Endpoint{rails: r, known: registry{rails: r}, slots: slots, bytes: bytes, tell: tell,
		links: make([]link, size), lines: make([]*line, size),
		batch: make([]Write, 0, batchWrites), said: make([]byte, 0, asideBytes)}
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
		if l := &e.links[peer]; l.line == nil && !l.asked {
			l.asked = true
			e.offer(peer)
		}
	}
	e.adopt()
	return nil
}

// complete drives the listed messages until all are complete or one fails.
func (e *Endpoint) complete(ctx context.Context) error {
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

// advance does what can be done without waiting, and tells whether that moved a message.
func (e *Endpoint) advance() (moved bool, err error) {
	if err := e.poll(); err != nil {
		return false, err
	}
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
