package rdma

import (
	"errors"
	"time"

	"github.com/collgen/collgen/fast/internal/talk"
)

// release says the last word on all links and gives everything back. What the rank has sent goes out meanwhile.
func (e *Endpoint) release() {
	e.adopt()
	for i := range e.links {
		if l := &e.links[i]; l.ready && !l.dead {
			l.unsaid = talk.Header{Kind: talk.Bye}.Append(l.unsaid)
			e.flush(l)
		}
	}
	if e.drained() {
		_ = e.free()
		return
	}
	limit := e.end.Drain()
	go func() {
		for start := time.Now(); !e.drained() && time.Since(start) < limit; {
			_ = e.domain.Wait(time.Millisecond)
		}
		_ = e.free()
	}()
}

// drained tells whether all that was said has arrived, or never will.
func (e *Endpoint) drained() bool {
	if e.poll() != nil {
		return true
	}
	for i := range e.links {
		if l := &e.links[i]; l.ready && !l.dead && (len(l.unsaid) > 0 || l.ended < l.signed) {
			return false
		}
	}
	return true
}

// free gives back what the endpoint has of the device.
func (e *Endpoint) free() error {
	e.end.Lock()
	defer e.end.Unlock()
	var errs []error
	for _, n := range e.lines {
		if n != nil {
			errs = append(errs, n.close())
		}
	}
	return errors.Join(append(errs, e.forgetAll(), e.domain.Close())...)
}
