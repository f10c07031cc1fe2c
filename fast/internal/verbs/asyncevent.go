//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
import "C"

import (
	"errors"
	"os"
	"syscall"
)

// listen reads the events of an open device, and tells all of its contexts.
func (s *shared) listen() {
	defer close(s.read)
	for {
		e, err := s.event()
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if s.tell(e, err); err != nil {
			return
		}
	}
}

// event waits for the next event of the device. That its file is closed ends it, with an error that is os.ErrClosed.
func (s *shared) event() (Event, error) {
	var errno syscall.Errno
	e := Event{Device: s.name}
	err := s.events.wait(func(uintptr) bool {
		errno = s.takeEvent(&e)
		return errno != syscall.EAGAIN
	})
	if err == nil && errno != 0 {
		err = &Error{Device: s.name, Op: "take an event", Err: errno}
	}
	return e, err
}

// takeEvent answers EAGAIN if there is no event now.
func (s *shared) takeEvent(e *Event) syscall.Errno {
	var kind, port C.int
	var qp, owner C.uint32_t
	errno := C.vb_next_event(s.handle, &kind, &port, &qp, &owner)
	e.Type, e.Port, e.QP, e.owner = EventType(kind), int(port), uint32(qp), uint32(owner)
	return syscall.Errno(errno)
}

// tell tells all contexts, or the one that the event is about, and takes note of a device that is lost with it.
func (s *shared) tell(e Event, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.contexts {
		if c.tell != nil && (e.owner == 0 || e.owner == c.number) {
			c.tell(e, err)
		}
	}
	if err != nil || e.Type == EventDeviceFatal {
		s.lost = true
		s.forget()
	}
}
