package rdma

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/links"
	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	rank         int
	domain       Domain
	slots, bytes uint32 // of each link
	tell         func(peer int, card []byte)
	links        []link           // by rank; its own is unused
	byQP         map[uint32]*link // by the number of the queue pair, as far as the links have one

	call    wire.Mark
	history talk.History // the calls begun last

	touched     []int // the ranks of the links of the Exchange in progress
	active      []int // those of them with messages that are not complete
	open        int   // how many messages are not complete
	lent        int   // how many slots were lent
	moved       time.Time
	moves       uint64        // how often something was sent or received
	progress    atomic.Uint64 // moves, as far as others are to know
	awaited     links.Awaited // what Waiting gives
	said        []byte        // what another rank has said besides
	completions [32]Completion
	batch       []Write // of one link, to be posted

	known   registry
	end     links.End // in use while an Exchange is in progress, or something is lent; it is locked for what follows
	lines   []*line   // by rank, what was made for a link; nil: nothing so far
	servers int       // those who serve lines
	freed   bool      // what there is of the device is to be given back when nobody does any more
	changed atomic.Bool
}

// New is rank's end of its links to all of size ranks, over d, which is the endpoint's from now on. tell brings a card to another
// rank's Told, in the order of the calls; it must not block.
func New(rank, size int, d Domain, tell func(peer int, card []byte)) *Endpoint {
	return newEndpoint(rank, size, d, tell, defaultSlots, defaultBytes)
}

// newEndpoint is New with so many slots of so many bytes for each link.
func newEndpoint(rank, size int, d Domain, tell func(peer int, card []byte), slots, bytes uint32) *Endpoint {
	e := &Endpoint{rank: rank, domain: d, known: registry{domain: d}, slots: slots, bytes: bytes, tell: tell,
		links: make([]link, size), lines: make([]*line, size),
		byQP: map[uint32]*link{}, call: wire.NewMark(new(wire.Call)), batch: make([]Write, 0, batchWrites),
		said: make([]byte, 0, asideBytes)}
	for peer := range e.links {
		e.links[peer] = link{peer: peer, partner: talk.Partner{Rank: peer}}
	}
	return e
}

// Begin says which call the following messages belong to.
func (e *Endpoint) Begin(call wire.Mark) {
	e.call = call
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
		l.sends = append(l.sends, outgoing{Send: s, mark: e.call.Of(s.Call)})
		e.open++
	}
	for i := range recvs {
		r := &recvs[i]
		l, err := e.touch(r.Peer)
		if err != nil {
			return err
		}
		l.recvs = append(l.recvs, incoming{Recv: r, mark: e.call.Of(r.Call), after: l.sendOf(r)})
		e.open++
	}
	for _, peer := range e.touched {
		if l := &e.links[peer]; l.line == nil && !l.asked {
			l.asked = true
			e.offer(peer)
		}
	}
	e.adopt()
	return nil
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

// complete drives the listed messages until all are complete or one fails.
func (e *Endpoint) complete(ctx context.Context) error {
	e.moved = time.Time{}
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

// advance does what can be done without waiting, and tells whether that moved a message.
func (e *Endpoint) advance() (moved bool, err error) {
	if err := e.poll(); err != nil {
		return false, err
	}
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
