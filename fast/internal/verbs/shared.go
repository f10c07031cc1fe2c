//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// static int close_device(struct vb_context *c) { return vb.close_device(c); }
import "C"

import (
	"slices"
	"sync"
)

// shared is a device that its contexts share: open while there are any.
type shared struct {
	name   string
	handle *C.struct_vb_context
	events *eventFile
	read   chan struct{} // closed when nobody reads the events any more
	life   sync.Mutex    // held while it is opened or closed: where a driver hangs, that holds up this device alone

	mu       sync.Mutex // protects the following, and is held while contexts are told
	contexts []*Context
	lost     bool // it works no more: the next context opens it anew
}

// devices are those that contexts were made of, by name.
var devices = struct {
	sync.Mutex
	named map[string]*shared
}{named: map[string]*shared{}}

// share adds c to those that share its device.
func share(c *Context) (*shared, error) {
	for {
		s := named(c.Device)
		if joined, err := s.join(c); joined || err != nil {
			return s, err
		}
	}
}

// named returns the device of this name, open or not.
func named(name string) *shared {
	devices.Lock()
	defer devices.Unlock()
	s := devices.named[name]
	if s == nil {
		s = &shared{name: name}
		devices.named[name] = s
	}
	return s
}

// forget has the next context of the device open it anew.
func (s *shared) forget() {
	devices.Lock()
	defer devices.Unlock()
	if devices.named[s.name] == s {
		delete(devices.named, s.name)
	}
}

// join adds a context, before which the device is opened if it is the first; false if the device is lost.
func (s *shared) join(c *Context) (joined bool, err error) {
	s.life.Lock()
	defer s.life.Unlock()
	s.mu.Lock()
	if s.lost {
		s.mu.Unlock()
		return false, nil
	}
	s.contexts = append(s.contexts, c)
	first := len(s.contexts) == 1
	s.mu.Unlock()
	if first {
		if err := s.open(); err != nil {
			s.remove(c)
			return false, err
		}
	}
	return true, nil
}

// leave removes a context, after which the device is closed if it was the last. Nobody tells c anything after that.
func (s *shared) leave(c *Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.remove(c) > 0 {
		return nil
	}
	return s.close()
}

// remove answers how many contexts are left.
func (s *shared) remove(c *Context) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contexts = slices.DeleteFunc(s.contexts, func(other *Context) bool { return other == c })
	return len(s.contexts)
}

func (s *shared) open() (err error) {
	if s.handle, err = openHandle(s.name); err != nil {
		return err
	}
	if s.events, err = newEventFile(int(s.handle.async_fd), s.name); err != nil {
		C.close_device(s.handle) // the first error says more
		return &Error{Device: s.name, Op: "watch its events", Err: err}
	}
	s.read = make(chan struct{})
	go s.listen()
	return nil
}

// close waits for whoever reads the events, and may be in the library.
func (s *shared) close() error {
	s.events.Close()
	<-s.read
	return result(s.name, "close it", C.close_device(s.handle))
}
