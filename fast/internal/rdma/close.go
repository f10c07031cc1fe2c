package rdma

import (
	"time"

	"github.com/collgen/collgen/fast/internal/linkproto"
)

// abort ends what is in flight of a failed Exchange, so that nothing reads or writes the caller's memory any more. It
// also tells peers that their messages did not match.
func (e *Endpoint) abort() {
	for _, peer := range e.Peers {
		l := &e.links[peer]
		if l.Partner.Refusal != nil {
			l.pending, l.Partner.Refusal = append(l.pending, l.Partner.Refusal...), nil
			e.flushControl(l)
		}
		if l.inFlight() != [2]*registration{} {
			l.breakPairs()
			l.Fail(l.PeerDied("the link was given up with a message on its way"))
		}
	}
	e.awaitFlush()
	for _, peer := range e.Peers {
		e.registered.deregister(e.links[peer].inFlight())
	}
	e.reclaim() // nobody reads, or releases, what a failed Exchange has lent
}

// inFlight returns the caller's memory that this rank's device reads, and that the peer's device may write.
func (l *link) inFlight() (in [2]*registration) {
	if !l.sendIsRead() {
		in[0] = l.direct.from
	}
	in[1] = l.target
	return in
}

// flushTime is how long devices may take to complete what was in flight on broken queue pairs.
const flushTime = time.Second

// awaitFlush waits until no device reads the caller's memory any more.
func (e *Endpoint) awaitFlush() {
	for start := time.Now(); !e.flushed() && time.Since(start) < flushTime; {
		_ = e.rails.sleep(time.Millisecond)
	}
}

// flushed reports whether no device reads the caller's memory any more, or nobody will ever report it.
func (e *Endpoint) flushed() bool {
	if e.poll() != nil {
		return true
	}
	for _, peer := range e.Peers {
		if l := &e.links[peer]; !l.sendIsRead() && l.unfinished() > 0 {
			return false
		}
	}
	return true
}

// release says goodbye on all links and frees everything, once what the rank has sent has arrived.
func (e *Endpoint) release() {
	_ = e.adopt()
	for i := range e.links {
		if l := &e.links[i]; l.ready && !l.dead {
			l.pending = linkproto.Header{Kind: linkproto.Bye}.Append(l.pending)
			e.flushControl(l)
		}
	}
	d := e.Drain()
	if !d.Continue(e.undelivered()) {
		e.free()
		return
	}
	go func() {
		for waits := true; waits; waits = d.Continue(e.undelivered()) {
			_ = e.rails.sleep(d.Interval())
		}
		e.free()
	}()
}

// undelivered returns how many control bytes and writes, taken together, have not arrived yet, and whose they are. It
// leaves out those that never will.
func (e *Endpoint) undelivered() (left int, at []int) {
	if e.poll() != nil {
		return 0, nil
	}
	for i := range e.links {
		if l := &e.links[i]; l.ready && !l.dead && !l.GivenUp() {
			if n := len(l.pending) + l.unfinished(); n > 0 {
				left, at = left+n, append(at, i)
			}
		}
	}
	return left, at
}

// free frees the device's resources as soon as nobody uses them any more.
func (e *Endpoint) free() {
	e.End.Lock()
	e.freed = true
	e.End.Unlock()
	e.End.MarkReleased()
	e.freeWhenUnused()
}

// freeWhenUnused frees everything if the endpoint was freed and no goroutine makes connections any more. It drops
// errors: nobody is left to handle them.
func (e *Endpoint) freeWhenUnused() {
	e.End.Lock()
	last := e.freed && e.servers == 0
	e.freed = e.freed && !last
	e.End.Unlock()
	if !last {
		return
	}
	for _, n := range e.conns {
		if n != nil {
			_ = n.close()
		}
	}
	e.registered.close()
	e.rails.close()
}
