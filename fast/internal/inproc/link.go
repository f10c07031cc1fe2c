package inproc

import (
	"runtime"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// push does what it can for m without waiting, and reports whether it did anything. Messages to one rank are sent in
// the order of the list: the link is not idle before the message posted first is done.
func (e *Endpoint) push(m *outgoing) (bool, error) {
	if m.done {
		return false, nil
	}
	l := m.link
	switch state := l.state.Load(); {
	case state == idle:
		l.data, l.call = m.Data, m.call
		l.read.Store(0)
		if events.On {
			e.trail.Part(events.Put, events.Part{Peer: m.Peer, Bytes: len(m.Data), Via: events.Memory})
		}
		l.state.Store(posted)
		m.posted = true
		e.net.wake(m.Peer)
	case state == taken && m.posted:
		l.data, l.call.Call = nil, nil
		l.state.Store(idle)
		if events.On {
			e.trail.Part(events.Sent, events.Part{Peer: m.Peer, Bytes: len(m.Data), Via: events.Memory})
		}
		m.done = true
		e.open--
	case state == refused && m.posted:
		return false, l.refusal
	default:
		return false, nil
	}
	return true, nil
}

// withdraw withdraws all messages that no rank has taken, and releases a message that this rank was taking when it
// panicked.
func (e *Endpoint) withdraw() {
	for i := range e.in {
		if r := &e.in[i]; !r.done {
			r.link.state.CompareAndSwap(taking, posted)
		}
	}
	for i := range e.out {
		if m := &e.out[i]; m.posted && !m.done {
			m.link.withdraw()
		}
	}
}

// withdraw withdraws the message, unless the receiver has taken or refused it. It waits while the receiver reads a
// segment.
func (l *link) withdraw() {
	for !l.state.CompareAndSwap(posted, idle) {
		if state := l.state.Load(); state == taken || state == refused {
			return
		}
		runtime.Gosched()
	}
}

// pull does what it can for r without waiting, and reports whether it did anything.
func (e *Endpoint) pull(r *incoming) (bool, error) {
	switch {
	case r.done:
		return false, nil
	case r.held > 0:
		return e.put(r), nil
	case r.link.received != r.number || r.link.state.Load() != posted || !r.link.state.CompareAndSwap(posted, taking):
		return false, nil
	}
	if err := e.check(r); err != nil {
		r.link.refusal = err.Mirror(e.rank)
		r.link.state.Store(refused)
		e.net.wake(r.Peer)
		return false, err
	}
	e.take(r)
	return true, nil
}

// check returns an error if the message's call or length is not what this rank expects.
func (e *Endpoint) check(r *incoming) *wire.MismatchError {
	l := r.link
	if l.call.Fingerprint != r.call.Fingerprint {
		sender := e.net.endpoints[r.Peer] // which waits until its message is taken or refused
		if err := wire.Explain(r.call.Call, l.call.Call, r.Peer, e.past[:], sender.past[:]); err != nil {
			return err
		}
	}
	if len(l.data) != len(r.Into) {
		return wire.LengthMismatch(r.call.Call, r.Peer, uint64(len(r.Into)), uint64(len(l.data)))
	}
	return nil
}

// take reads one segment of the message, whose link is in state taking.
func (e *Endpoint) take(r *incoming) {
	l, from := r.link, r.read
	r.read = min(from+e.net.segment, len(r.Into))
	data := l.data[from:r.read]
	if r.own == nil || r.own.read.Load() >= int64(r.read) {
		kernel.Apply(r.Recv, from, data)
	} else {
		r.held = copy(r.bounce, data)
	}
	if events.On {
		e.follow(r, from, len(data))
	}
	l.read.Store(int64(r.read))
	if r.read < len(r.Into) {
		l.state.Store(posted)
	} else {
		l.received++
		l.state.Store(taken)
		e.finish(r)
	}
	e.net.wake(r.Peer)
}

// put moves the held segment to its place, if the place was already sent, and reports whether it did.
func (e *Endpoint) put(r *incoming) bool {
	if r.own.read.Load() < int64(r.read) {
		return false
	}
	kernel.Apply(r.Recv, r.read-r.held, r.bounce[:r.held])
	if events.On {
		e.trail.Part(events.Placed, events.Part{Peer: r.Peer, At: r.read - r.held, Bytes: r.held, Via: events.Memory})
	}
	r.held = 0
	e.finish(r)
	return true
}

// finish marks r as done if it is complete.
func (e *Endpoint) finish(r *incoming) {
	if r.held == 0 && r.read == len(r.Into) {
		r.done = true
		e.open--
	}
}

// follow logs that n bytes of r from byte at on were read, to their place or to the bounce buffer.
func (e *Endpoint) follow(r *incoming, at, n int) {
	do := events.Placed
	if r.held > 0 {
		do = events.Taken
	}
	e.trail.Part(do, events.Part{Peer: r.Peer, At: at, Bytes: n, Via: events.Memory})
}

// advance does everything that needs no waiting, and reports whether it did anything.
func (e *Endpoint) advance() (moved bool, err error) {
	for i := range e.out {
		did, err := e.push(&e.out[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	for i := range e.in {
		did, err := e.pull(&e.in[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	if moved {
		e.moves++
	}
	return moved, nil
}
