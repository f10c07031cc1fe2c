package tcp

import (
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
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
