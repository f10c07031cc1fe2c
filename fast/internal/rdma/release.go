package rdma

import (
	"github.com/collgen/collgen/fast/internal/linkproto"
)

// release says the last word on all links and gives everything back. What the rank has sent goes out meanwhile.
func (e *Endpoint) release() {
	_ = e.adopt()
	for i := range e.links {
		if l := &e.links[i]; l.ready && !l.dead {
			l.unsaid = linkproto.Header{Kind: linkproto.Bye}.Append(l.unsaid)
			e.flush(l)
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

// undelivered returns how many bytes were not said yet and how many writes have not arrived, together, but for those
// that never will, and whose they are.
func (e *Endpoint) undelivered() (left int, at []int) {
	if e.poll() != nil {
		return 0, nil
	}
	for i := range e.links {
		if l := &e.links[i]; l.ready && !l.dead && !l.GivenUp() {
			if n := len(l.unsaid) + l.unended(); n > 0 {
				left, at = left+n, append(at, i)
			}
		}
	}
	return left, at
}

// free gives back what the endpoint has of the device, when nobody uses it any more.
func (e *Endpoint) free() {
	e.End.Lock()
	e.freed = true
	e.End.Unlock()
	e.End.MarkReleased()
	e.dispose()
}

// dispose gives everything back, if the last one calls it who has used it. The errors of that are nobody's any more.
func (e *Endpoint) dispose() {
	e.End.Lock()
	last := e.freed && e.servers == 0
	e.freed = e.freed && !last
	e.End.Unlock()
	if !last {
		return
	}
	for _, n := range e.lines {
		if n != nil {
			_ = n.close()
		}
	}
	e.known.close()
	e.rails.close()
}
