package tcp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// arrival is a connection for a link, or the reason why there is none.
type arrival struct {
	peer   int
	socket Socket // nil: there is none
	conn   wire.Conn
	err    error
}

// Attach gives the endpoint its connection to peer, which is the endpoint's from now on. A connection too many is
// closed, at the latest when the next Exchange begins.
func (e *Endpoint) Attach(peer int, c wire.Conn) {
	s, err := takeOut(c)
	e.arrive(arrival{peer: peer, socket: s, conn: c, err: wire.Exhausted(err)})
}

// Broken says that no connection to peer can be had, and why. One that comes all the same is taken, unless a call has
// failed for want of it.
func (e *Endpoint) Broken(peer int, err error) { e.arrive(arrival{peer: peer, err: err}) }

// Linked reports whether this rank has, or had, a connection to peer. It may be called from any goroutine.
func (e *Endpoint) Linked(peer int) bool { return e.links[peer].linked.Load() }

// onTheWay is how long a connection may take to arrive that the other rank has: as long as its handshake may.
const onTheWay = time.Minute

// Left says that peer has closed its end, and makes no connection any more. One that is there is not concerned, and
// neither is one that peer has, if it is linked: what was sent over it still comes.
func (e *Endpoint) Left(peer int, linked bool) {
	switch {
	case e.Linked(peer):
	case linked:
		e.End.Lock()
		defer e.End.Unlock()
		if !e.End.Closed() {
			e.limits = append(e.limits, time.AfterFunc(onTheWay, func() { e.Broken(peer, wire.ErrClosed) }))
		}
	default:
		e.Broken(peer, wire.ErrClosed)
	}
}

// arrive leaves a for the next look of the Exchange in progress, or of the next one.
func (e *Endpoint) arrive(a arrival) {
	if wire.CheckPeer(e.Rank, a.peer, len(e.links)) != nil {
		a.close()
		return
	}
	e.End.Lock()
	ended, surplus := e.End.Closed(), arrival{}
	if !ended {
		surplus = e.keep(a)
		e.arrived.Store(true)
	}
	e.End.Unlock()
	if ended {
		a.part()
		return
	}
	surplus.close()
	e.poller.wake()
}

// keep leaves one arrival of each peer, however many there are while no Exchange takes them: the first, but a
// connection rather than the reason why there is none. It returns the other one. The endpoint is locked.
func (e *Endpoint) keep(a arrival) (surplus arrival) {
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

// part says the last word on a connection that comes too late.
func (a *arrival) part() {
	if a.socket == nil {
		a.close()
		return
	}
	l := link{socket: a.socket, out: output{sealer: newSealer(a.conn.Seal)}}
	l.leave()
	l.close()
}

func (a *arrival) close() {
	switch {
	case a.socket != nil:
		a.socket.Close()
	case a.conn.TCPConn != nil:
		_ = a.conn.Close()
	}
}

// adopt makes links of what has arrived.
func (e *Endpoint) adopt() error {
	if !e.arrived.Load() {
		return nil
	}
	e.End.Lock()
	arrivals := e.arrivals
	e.arrivals = nil
	e.arrived.Store(false)
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
	case l.socket != nil || l.Verdict != nil:
		a.close()
		return nil
	case a.err != nil:
		l.useless.close()
		l.lack, l.useless = l.lacks(a.err), *a
		return nil
	}
	l.socket, l.asked = a.socket, true
	l.linked.Store(true)
	l.out.sealer, l.in.opener = newSealer(a.conn.Seal), newOpener(a.conn.Open)
	if err := e.poller.add(a.peer); err != nil {
		return fmt.Errorf("the link of rank %d to rank %d: %w", e.Rank, a.peer, wire.Exhausted(err))
	}
	return nil
}

// settled reports whether l has a connection, or there is a last word on that. Who asks needs it: that there is none is
// the last word then.
func (l *link) settled() bool {
	if l.socket == nil && l.Verdict == nil {
		l.Verdict = l.lack
	}
	return l.socket != nil || l.Verdict != nil
}

// lacks returns the error of a rank that no connection to can be had. If this process has no room for it, the other
// rank is not at fault.
func (l *link) lacks(err error) error {
	if errors.Is(err, wire.ErrExhausted) && !errors.As(err, new(*wire.PeerError)) {
		return fmt.Errorf("the link to rank %d: %w", l.Peer, err)
	}
	for _, typed := range []error{wire.ErrDied, wire.ErrFrozen, wire.ErrFenced, wire.ErrClosed, wire.ErrAborted, wire.ErrExhausted} {
		if errors.Is(err, typed) {
			return &wire.PeerError{Rank: l.Peer, Err: err}
		}
	}
	return l.Died("there is no connection: %w", err)
}
