package rdma

import (
	"errors"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// lineTo returns what is made for the link to peer. The endpoint is locked.
func (e *Endpoint) lineTo(peer int) *line {
	if e.lines[peer] == nil {
		e.lines[peer] = &line{slots: e.slots, bytes: e.bytes}
	}
	return e.lines[peer]
}

// offer has peer told that this rank wants a link, unless it was.
func (e *Endpoint) offer(peer int) {
	e.End.Lock()
	defer e.End.Unlock()
	if n := e.lineTo(peer); !n.offered {
		e.attend(peer, n)
	}
}

// Told takes the card of peer, which is hostile until it was checked. It may be called from any goroutine, and waits
// for nothing.
func (e *Endpoint) Told(peer int, body []byte) {
	if wire.CheckPeer(e.Rank, peer, len(e.links)) != nil {
		return
	}
	c, err := decode(body)
	e.End.Lock()
	defer e.End.Unlock()
	if !e.End.Closed() {
		n := e.lineTo(peer)
		n.hear(c, err)
		e.attend(peer, n)
	}
}

// attend has somebody serve n, the line to peer. The endpoint is locked.
func (e *Endpoint) attend(peer int, n *line) {
	if e.End.Closed() || n.served {
		return
	}
	n.served = true
	e.servers++
	go e.serve(peer, n)
}

// serve does what there is to do for n, the line to peer. Meanwhile the endpoint is not locked: to register memory and
// to connect a queue pair may take a second.
func (e *Endpoint) serve(peer int, n *line) {
	e.End.Lock()
	for !e.End.Closed() && (n.told != nil || !n.offered) {
		t, answer := n.told, !n.offered
		n.told = nil
		if n.err == nil {
			e.End.Unlock()
			err := n.bring(e.rails, t)
			e.End.Lock()
			answer = n.take(t, err) || answer
		}
		n.offered = true
		e.inform(peer, n.card(), answer)
	}
	n.served = false
	e.servers--
	e.End.Unlock()
	e.dispose()
}

// inform has the Exchange see what has become of a line, and peer if it is to. The endpoint is locked before and after
// that.
func (e *Endpoint) inform(peer int, card []byte, answer bool) {
	e.Changed.Store(true)
	e.End.Unlock()
	if answer {
		e.tell(peer, card)
	}
	e.rails.wake()
	e.End.Lock()
}

// Left says that peer has closed its end: no card comes any more, but maybe what it has written, if it could. Whether
// it was linked does not matter: it can write only to who is connected.
func (e *Endpoint) Left(peer int, _ bool) {
	if wire.CheckPeer(e.Rank, peer, len(e.links)) != nil {
		return
	}
	e.End.Lock()
	if !e.End.Closed() {
		switch n := e.lineTo(peer); {
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

// adopt has the Exchange see what has become of lines.
func (e *Endpoint) adopt() error {
	if !e.Changed.Load() {
		return nil
	}
	e.End.Lock()
	defer e.End.Unlock()
	e.Changed.Store(false)
	for peer, n := range e.lines {
		if n != nil {
			e.links[peer].join(e, n)
		}
	}
	return nil
}

// join has l use its line, as far as that has come. The endpoint is locked.
func (l *link) join(e *Endpoint, n *line) {
	if n.err != nil { // or it is connected
		l.Fail(l.lacks(n.err))
		return
	}
	if n.connected && l.line == nil {
		l.line, l.lanes = n, n.lanes
		l.main = &l.lanes[(e.Rank+l.Peer)%len(l.lanes)]
		for i := range l.lanes {
			t := &l.lanes[i]
			t.link, t.come, t.rail.lanes[t.pair.Address().QP] = l, l.granted, t
		}
		l.in.slots, l.heard.slots = n.slots, asideSlots
		l.out.slots, l.say.slots = n.remote.slots, asideSlots
		l.came, l.unsaid = make([]uint32, n.slots), make([]byte, 0, asideBytes)
	}
	l.ready, l.left = l.ready || n.ready, n.left
}

// lastWord is how long a rank that has left is waited for, to which there is no connection yet.
const lastWord = 2 * time.Second

// miss gives l up when the other rank left so long ago that nothing that it has written is on its way. It says no last
// word if it has not heard that it can be written to.
func (l *link) miss() {
	if !l.left.IsZero() && time.Since(l.left) >= lastWord {
		l.Fail(l.lacks(wire.ErrClosed))
	}
}

// lacks returns the error of a rank that there is no connection with.
func (l *link) lacks(err error) error {
	switch {
	case errors.Is(err, wire.ErrClosed):
		return &wire.PeerError{Rank: l.Peer, Err: wire.ErrClosed}
	case errors.Is(err, errGivesNone):
		return l.PeerDied("%w", err)
	}
	return fmt.Errorf("there is no link to rank %d: %w", l.Peer, err)
}
