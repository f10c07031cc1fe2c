//go:build linux

package shm

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Attach returns rank's end of its links to all of size ranks, through the memory that Create has made for them. It
// closes fd, a descriptor of that memory.
func Attach(rank, size, fd int) (*Endpoint, error) {
	defer unix.Close(fd) // the mapping keeps the memory
	if size < 2 || size > MaxSize || rank < 0 || rank >= size {
		return nil, fmt.Errorf("rank %d of %d cannot attach to shared memory, which serves 2 to %d ranks", rank, size,
			MaxSize)
	}
	mem, err := openMemory(fd, size)
	if err != nil {
		return nil, err
	}
	if rank > 0 {
		if err := mem.populatePart(fd, rank); err != nil {
			mem.unmap()
			return nil, err
		}
	}
	e := &Endpoint{rank: rank, mem: mem, own: mem.control(rank), patience: patienceFor(size, cores),
		current: wire.NewMark(new(wire.Call)), published: true, links: make([]link, size), multicast: newMulticast(mem, rank),
		guard: refGuard{marks: hasMembarrier()}}
	for peer := range e.links {
		if peer != rank {
			l := &e.links[peer]
			*l = link{peer: peer, control: mem.control(peer), out: mem.ring(rank, peer), in: mem.ring(peer, rank)}
			l.multicast, l.fullMulticast = mem.multicast(peer)
		}
	}
	e.present()
	if size <= 2*cores && hasGlobalMembarrier() { // more ranks sleep too often
		e.orders = true
		e.own.orders.Store(1)
	}
	return e, nil
}

// Begin sets the call that the following messages belong to. The other ranks can see it from the next Exchange or Begin
// on.
func (e *Endpoint) Begin(call wire.Mark) {
	if !e.published && e.guard.acquire() { // a call without an Exchange
		e.publish()
		e.release()
	}
	e.current, e.published = call, false
}

// Exchange makes all sends and receives concurrently, and returns when all of them are complete or one has failed.
// Messages may then still lie in the shared memory. After an error the endpoint is only good for Close.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if !e.enter() {
		return e.reason()
	}
	// After a failure nothing is begun, even if it could be done.
	if err := e.reason(); err != nil {
		e.exit()
		return err
	}
	defer e.over() // also if a kernel panics
	e.publish()
	sent, received := e.sendShort(sends), 0
	if sent == len(sends) {
		received = e.receiveShort(sends, recvs)
	}
	if sent+received > 0 {
		e.move()
	}
	if sent < len(sends) || received < len(recvs) {
		if err := e.list(sends, recvs, sent, received); err != nil {
			return err
		}
		if err := e.complete(ctx, 0, nil); err != nil {
			return err
		}
	}
	if len(recvs) == 0 {
		return e.crossed(sends)
	}
	return nil
}

// over ends an Exchange.
func (e *Endpoint) over() {
	if e.open+len(e.out)+len(e.in) > 0 { // something was listed
		e.forget()
	}
	e.exit()
}

// forget ends all use of the caller's memory, by other ranks and by e itself, so that it can be garbage collected.
func (e *Endpoint) forget() {
	if e.open > 0 { // it has failed
		e.stall()
		e.repay()
	} else {
		e.awaited.Clear()
	}
	e.withdraw()
	// Clear only what points to that memory; newOut and newIn clear the rest.
	for i := range e.out {
		m := &e.out[i]
		m.Send, m.call.Call = nil, nil
	}
	for i := range e.in {
		m := &e.in[i]
		m.Recv, m.call.Call, m.source = nil, nil, nil
	}
	e.out, e.in, e.open = e.out[:0], e.in[:0], 0
}

// Fail makes the Exchange in progress and every later one return err. The first error counts, that of Close included.
// Other ranks do not learn of it.
func (e *Endpoint) Fail(err error) {
	if e.ended.CompareAndSwap(nil, &err) && e.guard.acquire() {
		e.own.ring()
		e.release()
	}
}

// Close closes the endpoint. A rank that waits for this one gets a *wire.PeerError with this rank and wire.ErrClosed,
// and an Exchange of this rank fails with wire.ErrClosed. Messages already sent can still be received.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	if !e.guard.acquire() {
		return nil
	}
	defer e.release()
	if !e.guard.close() {
		return nil
	}
	e.own.closed.Store(1)
	for i := range e.links {
		if c := e.links[i].control; c != nil {
			c.ring() // the others see it now
		}
	}
	return nil
}

// list adds messages to those in progress. The first of them have been sent and received already.
func (e *Endpoint) list(sends []wire.Send, recvs []wire.Recv, sent, received int) error {
	e.open += len(sends) - sent + len(recvs) - received
	e.out, e.in = slices.Grow(e.out, len(sends)), slices.Grow(e.in, len(recvs)) // they point to each other
	if len(e.out) == 0 {
		e.shared = e.shared[:0]
	}
	for i := sent; i < len(sends); i++ {
		if err := wire.CheckPeer(e.rank, sends[i].Peer, len(e.links)); err != nil {
			return err
		}
		l := &e.links[sends[i].Peer]
		m := e.newOut()
		m.Send, m.call, m.link, m.turn = &sends[i], e.current.Of(sends[i].Call), l, l.sends
		l.sends++
		if n := len(e.out); n > 1 && e.mem.size > 2 {
			e.share(&e.out[n-2], m)
		}
	}
	for i := received; i < len(recvs); i++ {
		if err := wire.CheckPeer(e.rank, recvs[i].Peer, len(e.links)); err != nil {
			return err
		}
		l := &e.links[recvs[i].Peer]
		m := e.newIn()
		m.Recv, m.call, m.link, m.turn = &recvs[i], e.current.Of(recvs[i].Call), l, l.recvs
		l.recvs++
		if len(m.Into) >= e.peeking.from && !l.probed {
			e.probe(l)
		}
		if m.AfterSend {
			if m.after = e.sendTo(m.Peer, len(m.Into)); m.after == nil && !answers(m.Recv, sends[:sent]) {
				return fmt.Errorf("rank %d receives from rank %d after a send, but sends it no such message", e.rank, m.Peer)
			}
			if m.after != nil && overlap(m.Into, m.after.Data) {
				m.after.overwritten = true
			} else {
				m.after = nil
			}
		}
	}
	return nil
}

// newOut returns one more send, within the capacity of out. It is filled in place: a processor that copies in large
// pieces what was just stored word by word has to wait for those stores.
func (e *Endpoint) newOut() *outgoing {
	n := len(e.out)
	e.out = e.out[:n+1]
	e.out[n] = outgoing{}
	return &e.out[n]
}

// newIn returns one more receive, within the capacity of in.
func (e *Endpoint) newIn() *incoming {
	n := len(e.in)
	e.in = e.in[:n+1]
	e.in[n] = incoming{}
	return &e.in[n]
}

// sendTo returns the listed send of that many bytes to peer, or nil.
func (e *Endpoint) sendTo(peer, bytes int) *outgoing {
	for i := range e.out {
		if m := &e.out[i]; m.Peer == peer && len(m.Data) == bytes {
			return m
		}
	}
	return nil
}

// complete drives the listed messages until not more than left are incomplete, one fails, or a Progress is to end.
func (e *Endpoint) complete(ctx context.Context, left int, until context.Context) error {
	idle := 0
	if e.spun { // for a short message
		e.spun, e.beside, idle = false, false, e.patienceNow().spins
	}
	for e.open > left {
		moved, err := e.advance()
		if err != nil {
			return err
		}
		if e.leaves(until) {
			return nil
		}
		switch {
		case moved:
			idle = 0
			e.awaited.Clear()
			if e.moves%64 != 0 {
				continue
			}
			e.progress.Store(e.moves)
			if e.open > left && (ctx.Err() != nil || e.ended.Load() != nil) {
				return e.failure(ctx)
			}
		case e.ended.Load() == nil && (idle%16 != 15 || ctx.Err() == nil) && e.pause(idle):
			idle++ // the context is checked in between because a yield may take long
		default:
			e.progress.Store(e.moves)
			if err := e.sleep(ctx, until); err != nil {
				return err
			}
		}
	}
	return nil
}

// Follow makes the endpoint write its messages to t. It must be called before the endpoint is used.
func (e *Endpoint) Follow(t *events.Trail) { e.trail = t }

// Rings returns how many segments a ring holds, and how many if they lie in their lines.
func (e *Endpoint) Rings() (inSlots, inLines int) { return slots, depth }

// answers reports whether one of sends goes to m's peer and is as long as m.
func answers(m *wire.Recv, sends []wire.Send) bool {
	for i := range sends {
		if s := &sends[i]; s.Peer == m.Peer && len(s.Data) == len(m.Into) {
			return true
		}
	}
	return false
}
