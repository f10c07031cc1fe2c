package rdma

import (
	"errors"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// request asks peer for a connection, unless there is one or it was asked for.
func (e *Endpoint) request(peer int) {
	l := &e.links[peer]
	if l.conn != nil || l.requested {
		return
	}
	l.requested = true
	e.End.Lock()
	defer e.End.Unlock()
	if n := e.connTo(peer); !n.offered {
		e.startServing(peer, n)
	}
}

// connTo returns what is made for the link to peer. The caller holds the endpoint's lock.
func (e *Endpoint) connTo(peer int) *conn {
	if e.conns[peer] == nil {
		e.conns[peer] = &conn{slots: e.slots, bytes: e.bytes}
	}
	return e.conns[peer]
}

// ReceiveCard takes the card of peer, which is hostile until it was checked. It may be called from any goroutine, and
// does not block.
func (e *Endpoint) ReceiveCard(peer int, body []byte) {
	if wire.CheckPeer(e.Rank, peer, len(e.links)) != nil {
		return
	}
	c, err := decode(body)
	e.End.Lock()
	defer e.End.Unlock()
	if !e.End.Closed() {
		n := e.connTo(peer)
		n.receive(c, err)
		e.startServing(peer, n)
	}
}

// startServing makes a goroutine serve n, the connection to peer. The caller holds the endpoint's lock.
func (e *Endpoint) startServing(peer int, n *conn) {
	if e.End.Closed() || n.served {
		return
	}
	n.served = true
	e.servers++
	go e.serve(peer, n)
}

// serve does what there is to do for n, the connection to peer. It does not hold the endpoint's lock while it registers
// memory and connects a queue pair, which may take a second.
func (e *Endpoint) serve(peer int, n *conn) {
	e.End.Lock()
	for !e.End.Closed() && (n.incoming != nil || !n.offered) {
		c, answer := n.incoming, !n.offered
		n.incoming = nil
		if n.err == nil {
			e.End.Unlock()
			err := n.bring(e.rails, c)
			e.End.Lock()
			answer = n.update(c, err) || answer
		}
		n.offered = true
		e.announce(peer, n.card(), answer)
	}
	n.served = false
	e.servers--
	e.End.Unlock()
	e.freeWhenUnused()
}

// announce makes the Exchange see how a connection has changed, and the peer too if answer is set. The caller holds the
// endpoint's lock, which announce gives up meanwhile.
func (e *Endpoint) announce(peer int, card []byte, answer bool) {
	e.Changed.Store(true)
	e.End.Unlock()
	if answer {
		e.sendCard(peer, card)
	}
	e.rails.wake()
	e.End.Lock()
}

// Left reports that peer has closed its end. No card comes any more, but what peer has written may still arrive.
// Whether peer was linked does not matter: it can write only to ranks that are connected.
func (e *Endpoint) Left(peer int, _ bool) {
	if wire.CheckPeer(e.Rank, peer, len(e.links)) != nil {
		return
	}
	e.End.Lock()
	if !e.End.Closed() {
		switch n := e.connTo(peer); {
		case n.connected:
			n.left = time.Now()
		case n.err == nil:
			n.err = wire.ErrClosed
		}
		e.Changed.Store(true)
	}
	e.End.Unlock()
	e.rails.wake()
}

// adopt makes the links see how their connections have changed.
func (e *Endpoint) adopt() error {
	if !e.Changed.Load() {
		return nil
	}
	e.End.Lock()
	defer e.End.Unlock()
	e.Changed.Store(false)
	for peer, n := range e.conns {
		if n != nil {
			e.links[peer].adopt(e, n)
		}
	}
	return nil
}

// adopt makes l use its connection, as far as that is made. The caller holds the endpoint's lock.
func (l *link) adopt(e *Endpoint, n *conn) {
	if n.err != nil { // otherwise it may be connected
		l.Fail(l.wrapConnectError(n.err))
		return
	}
	if n.connected && l.conn == nil {
		l.conn, l.pairs = n, n.pairs
		l.main = &l.pairs[(e.Rank+l.Peer)%len(l.pairs)]
		for i := range l.pairs {
			q := &l.pairs[i]
			q.link, q.parts, q.rail.pairs[q.pair.Address().QP] = l, l.granted, q
		}
		l.in.slots, l.controlIn.slots = n.slots, controlSlots
		l.out.slots, l.controlOut.slots = n.remote.slots, controlSlots
		l.written, l.pending = make([]uint32, n.slots), make([]byte, 0, controlBytes)
	}
	l.ready, l.left = l.ready || n.ready, n.left
}

// goodbyeTime is how long a rank that has left may take to say goodbye.
const goodbyeTime = 2 * time.Second

// giveUpLeft gives l up if the peer left so long ago that nothing it has written is on its way. A peer that has not
// heard that it can write to this rank says no goodbye.
func (l *link) giveUpLeft() {
	if !l.left.IsZero() && time.Since(l.left) >= goodbyeTime {
		l.Fail(l.wrapConnectError(wire.ErrClosed))
	}
}

// wrapConnectError returns the error of a link that cannot be made because of err.
func (l *link) wrapConnectError(err error) error {
	switch {
	case errors.Is(err, wire.ErrClosed):
		return &wire.PeerError{Rank: l.Peer, Err: wire.ErrClosed}
	case errors.Is(err, errPeerRefuses):
		return l.PeerDied("%w", err)
	}
	return fmt.Errorf("there is no link to rank %d: %w", l.Peer, err)
}
