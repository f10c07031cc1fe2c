package tcp

import (
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/talk"
)

// release says the last word on all links and closes them. What the rank has sent goes out meanwhile.
func (e *Endpoint) release() {
	_ = e.adopt() // links that were not needed so far: a connection that is none is closed
	var left []*link
	for i := range e.links {
		l := &e.links[i]
		if l.socket == nil {
			continue
		}
		if l.leave() {
			l.close()
		} else {
			left = append(left, l)
		}
	}
	if len(left) == 0 {
		e.poller.close()
		return
	}
	go e.drain(left, e.End.Drain())
}

// leave says the last word, and tells whether all that was said has arrived.
func (l *link) leave() bool {
	l.out.pending = talk.Header{Kind: talk.Bye}.Append(l.out.pending)
	return l.drained()
}

// drain lets what is pending go out, for some time, and closes the links.
func (e *Endpoint) drain(left []*link, limit time.Duration) {
	defer e.poller.close()
	for start := time.Now(); len(left) > 0 && time.Since(start) < limit; {
		left = slices.DeleteFunc(left, func(l *link) bool {
			done := l.drained()
			if done {
				l.close()
			}
			return done
		})
		if len(left) > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	for _, l := range left {
		l.close()
	}
}

// drained sends what is pending, as far as it goes, and tells whether the other rank's host has all of it, or never will.
func (l *link) drained() bool {
	o := &l.out
	o.full = false
	o.flush(l.socket)
	return o.over != nil || o.flushed() && l.socket.Queued() == 0
}

// flush sends what is pending, as far as the socket takes it.
func (o *output) flush(s Socket) {
	for !o.flushed() && !o.full && o.over == nil {
		o.write(s, nil)
	}
}

func (l *link) close() {
	l.socket.Close()
	l.socket = nil
}
