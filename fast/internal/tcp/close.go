package tcp

import (
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

// release says goodbye on all links and closes them, once what the rank has sent has gone out.
func (e *Endpoint) release() {
	_ = e.adopt() // also links that were not needed so far; one that cannot be used is closed
	for i := range e.links {
		if l := &e.links[i]; l.socket != nil {
			l.sayBye()
		}
	}
	d := e.Drain()
	if !d.Continue(e.drainLinks()) {
		e.closeAll()
		return
	}
	go e.drain(d)
}

// sayBye sends the goodbye, as far as the socket takes it.
func (l *link) sayBye() {
	l.out.pending = linkproto.Header{Kind: linkproto.Bye}.Append(l.out.pending)
	l.drain()
}

// drain lets what is pending go out, and closes the links.
func (e *Endpoint) drain(d *linkbase.Drain) {
	for waits := true; waits; waits = d.Continue(e.drainLinks()) {
		time.Sleep(d.Interval())
	}
	e.closeAll()
}

// drainLinks closes the links on which everything has arrived, or nothing more will. It returns how many bytes have not
// arrived on the others, and whose links these are.
func (e *Endpoint) drainLinks() (left int, at []int) {
	for i := range e.links {
		l := &e.links[i]
		if l.socket == nil {
			continue
		}
		if n := l.drain(); n > 0 && !l.GivenUp() {
			left, at = left+n, append(at, i)
		} else {
			l.close()
		}
	}
	return left, at
}

// closeAll closes the links that are left, and frees everything else.
func (e *Endpoint) closeAll() {
	e.End.Lock()
	for _, limit := range e.limits {
		limit.Stop()
	}
	e.End.Unlock()
	for i := range e.links {
		l := &e.links[i]
		if l.socket != nil {
			l.close()
		}
		l.unusable.close()
	}
	e.poller.close()
	e.End.MarkReleased()
}

// drain sends what is pending, as far as possible. It returns how many bytes the other rank's host does not have, or 0
// if it will never have them.
func (l *link) drain() int {
	o := &l.out
	o.full = false
	o.flush(l.socket)
	l.discard()
	if o.err != nil || l.in.err != nil {
		return 0
	}
	return len(o.pending) - o.from + o.sealed() + l.socket.Queued()
}

// maxDiscards bounds how often a closing rank reads in one turn from a rank that may send endlessly.
const maxDiscards = 16

// discard reads and drops what has arrived too late. A connection that is closed with unread data is reset, and what it
// has sent may be lost. Reading also shows whether the other rank has closed its end.
func (l *link) discard() {
	in := &l.in
	if in.buf == nil {
		in.buf = make([]byte, controlBytes)
	}
	in.empty = false
	in.flow = events.Flow{} // dropped data does not count as arrived
	for range maxDiscards {
		if in.readInto(l.socket, in.buf) == 0 {
			return
		}
	}
}
