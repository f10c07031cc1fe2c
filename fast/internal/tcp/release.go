package tcp

import (
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/internal/events"
)

// release says the last word on all links and closes them. What the rank has sent goes out meanwhile.
func (e *Endpoint) release() {
	_ = e.adopt() // links that were not needed so far: a connection that is none is closed
	for i := range e.links {
		if l := &e.links[i]; l.socket != nil {
			l.leave()
		}
	}
	d := e.Drain()
	if !d.GoesOn(e.pass()) {
		e.part()
		return
	}
	go e.drain(d)
}

// leave says the last word.
func (l *link) leave() {
	l.out.pending = linkproto.Header{Kind: linkproto.Bye}.Append(l.out.pending)
	l.drain()
}

// drain lets what is pending go out, and closes the links.
func (e *Endpoint) drain(d *linkbase.Drain) {
	for goesOn := true; goesOn; goesOn = d.GoesOn(e.pass()) {
		time.Sleep(d.Nap())
	}
	e.part()
}

// pass closes the links on which all has arrived, or on which nothing will, and is how many bytes have not on the
// others, and whose they are.
func (e *Endpoint) pass() (left int, at []int) {
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

// part closes the links that are left, and lets go of everything else.
func (e *Endpoint) part() {
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
		l.useless.close()
	}
	e.poller.close()
	e.End.Released()
}

// drain sends what is pending, as far as it goes, and is how many bytes the other rank's host does not have, 0 if it
// never will.
func (l *link) drain() int {
	o := &l.out
	o.full = false
	o.flush(l.socket)
	l.ignore()
	if o.over != nil || l.in.over != nil {
		return 0
	}
	return len(o.pending) - o.from + o.sealed() + l.socket.Queued()
}

// ignore reads what has come, for which it is too late: a connection that is closed with something unread is reset, and
// what it has sent may be lost. So it sees too that the other rank has closed its end, and reads no more.
func (l *link) ignore() {
	in := &l.in
	if in.buf == nil {
		in.buf = make([]byte, listenBytes)
	}
	in.dry = false
	in.flow = events.Flow{} // what is dropped has not come
	for range ignoredAtOnce {
		if in.readInto(l.socket, in.buf) == 0 {
			return
		}
	}
}

// ignoredAtOnce is how often a rank that leaves reads in turn, of a rank that may send without an end.
const ignoredAtOnce = 16

// flush sends what is pending, as far as the socket takes it.
func (o *output) flush(s Socket) {
	for !o.flushed() && !o.full && o.over == nil {
		o.write(s, nil)
	}
}

func (l *link) close() {
	l.socket.Close()
	l.socket, l.in.buf = nil, nil
}
