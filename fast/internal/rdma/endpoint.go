package rdma

import (
	"github.com/collgen/collgen/fast/internal/linkbase"
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

	said        []byte // what another rank has said besides
	completions [32]Completion
	patient     bool    // the next look at the queues may take a microsecond, because there is nothing else to do
	batch       []Write // to be posted
	aim         *lane   // on which

	lines   []*line // by rank, what was made for a link; nil: nothing so far; End is locked for this and what follows
	servers int     // those who serve lines
	freed   bool    // what there is of the device is to be given back when nobody does any more
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
	e.Patience = patience
	e.Init(rank, all, linkbase.Hooks{Connect: e.request, Adopt: e.adopt, Poll: e.poll, Push: e.push, Pull: e.pull, Spin: e.spin,
		Arm: r.arm, Sleep: r.sleep, Stalled: e.reportStall, Abort: e.abort, Reclaim: e.giveBack, Wake: r.wake, Release: e.release})
	return e
}

// request asks for a link to peer, unless there is one or it was asked for.
func (e *Endpoint) request(peer int) {
	if l := &e.links[peer]; l.line == nil && !l.asked {
		l.asked = true
		e.offer(peer)
	}
}
