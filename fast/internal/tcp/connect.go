package tcp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// request asks for a connection to peer, unless there is one or it was asked for.
func (e *Endpoint) request(peer int) {
	if l := &e.links[peer]; l.socket == nil && !l.requested {
		l.requested = true
		e.connect(peer)
	}
}

// Attach gives the endpoint its connection to peer, which the endpoint owns from now on. A surplus connection is
// closed, at the latest when the next Exchange begins.
func (e *Endpoint) Attach(peer int, c wire.Conn) {
	s, err := extractSocket(c)
	e.deliver(arrival{peer: peer, socket: s, conn: c, err: wire.Exhausted(err)})
}

// ConnectFailed reports why no connection to peer can be made. One that arrives all the same is used, unless a call has
// failed for lack of it.
func (e *Endpoint) ConnectFailed(peer int, err error) { e.deliver(arrival{peer: peer, err: err}) }

// Linked reports whether this rank has, or had, a connection to peer. It may be called from any goroutine.
func (e *Endpoint) Linked(peer int) bool { return e.links[peer].linked.Load() }

// handshakeTime is how long a connection that the other rank has may take to arrive here.
const handshakeTime = time.Minute

// Left reports that peer has closed its end and makes no connection any more. This does not affect a connection that
// this rank has, or one that peer has, if it is linked: what was sent over it still arrives.
func (e *Endpoint) Left(peer int, linked bool) {
	switch {
	case e.Linked(peer):
	case linked:
		e.End.Lock()
		defer e.End.Unlock()
		if !e.End.Closed() {
			e.limits = append(e.limits, time.AfterFunc(handshakeTime, func() { e.ConnectFailed(peer, wire.ErrClosed) }))
		}
	default:
		e.ConnectFailed(peer, wire.ErrClosed)
	}
}

// deliver leaves a for the next adopt.
func (e *Endpoint) deliver(a arrival) {
	if wire.CheckPeer(e.Rank, a.peer, len(e.links)) != nil {
		a.close()
		return
	}
	e.End.Lock()
	closed, surplus := e.End.Closed(), arrival{}
	if !closed {
		surplus = e.enqueue(a)
		e.Changed.Store(true)
	}
	e.End.Unlock()
	if closed {
		a.dismiss()
		return
	}
	surplus.close()
	e.poller.wake()
}

// enqueue keeps one arrival for each peer, however many come before an adopt: the first, but a connection rather than
// the reason why there is none. It returns the other one. The caller holds the endpoint's lock.
func (e *Endpoint) enqueue(a arrival) (surplus arrival) {
	i := slices.IndexFunc(e.arrivals, func(other arrival) bool { return other.peer == a.peer })
	switch {
	case i < 0:
		e.arrivals = append(e.arrivals, a)
		return arrival{}
	case e.arrivals[i].err != nil && a.err == nil:
		a, e.arrivals[i] = e.arrivals[i], a
	}
	return a
}

// dismiss says goodbye on a connection that comes too late, and closes it.
func (a *arrival) dismiss() {
	if a.socket == nil {
		a.close()
		return
	}
	l := link{socket: a.socket, out: output{sealer: newSealer(a.conn.Seal)}}
	l.sayBye()
	l.close()
}

// adopt gives what has arrived to the links.
func (e *Endpoint) adopt() error {
	if !e.Changed.Load() {
		return nil
	}
	e.End.Lock()
	arrivals := e.arrivals
	e.arrivals = nil
	e.Changed.Store(false)
	e.End.Unlock()
	var errs []error
	for i := range arrivals {
		if err := e.link(&arrivals[i]); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// link gives a to its link, unless that has, or had, a connection.
func (e *Endpoint) link(a *arrival) error {
	l := &e.links[a.peer]
	switch {
	case l.socket != nil || l.Err != nil:
		a.close()
		return nil
	case a.err != nil:
		l.unusable.close()
		l.connectErr, l.unusable = l.wrapConnectError(a.err), *a
		return nil
	}
	l.socket, l.requested = a.socket, true
	l.linked.Store(true)
	l.out.sealer, l.in.opener = newSealer(a.conn.Seal), newOpener(a.conn.Open)
	if err := e.poller.add(a.peer); err != nil {
		return fmt.Errorf("the link of rank %d to rank %d: %w", e.Rank, a.peer, wire.Exhausted(err))
	}
	return nil
}
