//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
import "C"

import (
	"syscall"
	"time"
)

// Event waits for the next event of the device. Close ends it, with an error that is os.ErrClosed.
func (c *Context) Event() (Event, error) {
	var errno syscall.Errno
	e := Event{Device: c.Device}
	err := c.events.wait(func(uintptr) bool {
		errno = c.takeEvent(&e)
		return errno != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return Event{}, err
	case errno != 0:
		return Event{}, c.failed("take an event", errno)
	}
	return e, nil
}

// takeEvent answers EAGAIN if there is no event now.
func (c *Context) takeEvent(e *Event) syscall.Errno {
	var kind, port C.int
	var qp C.uint32_t
	errno := C.vb_next_event(c.handle, &kind, &port, &qp)
	e.Type, e.Port, e.QP = EventType(kind), int(port), uint32(qp)
	return syscall.Errno(errno)
}

// SetEventDeadline has Event end at a time, with os.ErrDeadlineExceeded; with the zero time, never.
func (c *Context) SetEventDeadline(t time.Time) error { return c.events.SetDeadline(t) }
