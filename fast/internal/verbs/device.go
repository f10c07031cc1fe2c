//go:build linux && cgo && !netgo

package verbs

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "library.h"
//
// static struct vb_device **devices(int *n) { return vb.get_device_list(n); }
// static void free_devices(struct vb_device **d) { vb.free_device_list(d); }
// static const char *name(struct vb_device *d) { return vb.get_device_name(d); }
// static struct vb_context *open_device(struct vb_device *d) { return vb.open_device(d); }
// static int close_device(struct vb_context *c) { return vb.close_device(c); }
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"unsafe"
)

// load loads the library, once.
var load = sync.OnceValue(func() error {
	if why := C.vb_load(); why != nil {
		return fmt.Errorf("%w: %s", ErrUnavailable, C.GoString(why))
	}
	return nil
})

// errNoReason replaces an errno of 0.
var errNoReason = errors.New("libibverbs does not say why")

// Devices returns the devices of this host, in the library's order. If there is none, the error is ErrUnavailable.
func Devices() (devices []Device, err error) {
	err = each(func(d *C.struct_vb_device) bool {
		devices = append(devices, Device{C.GoString(C.name(d)), NodeType(d.node_type)})
		return true
	})
	if err == nil && len(devices) == 0 {
		err = fmt.Errorf("%w: this host has no RDMA device, or none whose driver libibverbs has", ErrUnavailable)
	}
	return devices, err
}

// each calls use with each device, which is valid during the call, until use returns false. It does not load the
// library if the kernel has no device.
func each(use func(*C.struct_vb_device) bool) error {
	if entries, _ := os.ReadDir(Kernel); len(entries) == 0 {
		return fmt.Errorf("%w: this host has no RDMA device: there is nothing in %s", ErrUnavailable, Kernel)
	}
	if err := load(); err != nil {
		return err
	}
	var n C.int
	list, errno := C.devices(&n)
	if list == nil {
		if errno == syscall.ENOSYS {
			return fmt.Errorf("%w: the kernel has no module ib_uverbs", ErrUnavailable)
		}
		return fmt.Errorf("%w: the devices cannot be listed: %w", ErrUnavailable, cmp.Or(errno, errNoReason))
	}
	defer C.free_devices(list)
	for _, d := range unsafe.Slice(list, n) {
		if !use(d) {
			break
		}
	}
	return nil
}

// openHandle opens the device of this name.
func openHandle(name string) (*C.struct_vb_context, error) {
	var handle *C.struct_vb_context
	var errno error = ErrUnavailable // unless there is one of this name
	err := each(func(d *C.struct_vb_device) bool {
		if C.GoString(C.name(d)) != name {
			return true
		}
		handle, errno = C.open_device(d)
		return false
	})
	if err == nil && handle == nil {
		err = &Error{Device: name, Op: "open it", Err: cmp.Or(errno, errNoReason)}
	}
	return handle, err
}

// shared is a device that its contexts share. It is open as long as there are any.
type shared struct {
	name   string
	handle *C.struct_vb_context
	events *eventFile
	read   chan struct{} // closed when listen has returned
	life   sync.Mutex    // held while it is opened or closed: a driver that hangs blocks this device alone

	mu       sync.Mutex // protects the following, and is held while contexts are notified
	contexts []*Context
	lost     bool // it does not work any more: the next context opens the device anew
}

// devices are the devices that contexts were made from, by name.
var devices = struct {
	sync.Mutex
	named map[string]*shared
}{named: map[string]*shared{}}

// share adds c to the contexts that share its device.
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

// forget makes the next context of the device open it anew.
func (s *shared) forget() {
	devices.Lock()
	defer devices.Unlock()
	if devices.named[s.name] == s {
		delete(devices.named, s.name)
	}
}

// join adds a context, and opens the device if it is the first one. It returns false if the device is lost.
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

// leave removes a context, and closes the device if it was the last one. c is not notified after that.
func (s *shared) leave(c *Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.remove(c) > 0 {
		return nil
	}
	return s.close()
}

// remove removes a context, and returns how many are left.
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

// close closes the device, after listen, which may be in the library, has returned.
func (s *shared) close() error {
	s.events.Close()
	<-s.read
	return result(s.name, "close it", C.close_device(s.handle))
}

// listen reads the events of an open device, and notifies its contexts.
func (s *shared) listen() {
	defer close(s.read)
	for {
		e, err := s.event()
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if s.notify(e, err); err != nil {
			return
		}
	}
}

// event waits for the next event of the device. If its file is closed, it returns an error that is os.ErrClosed.
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

// takeEvent takes an event. It returns EAGAIN if there is none.
func (s *shared) takeEvent(e *Event) syscall.Errno {
	var kind, port C.int
	var qp, owner C.uint32_t
	errno := C.vb_next_event(s.handle, &kind, &port, &qp, &owner)
	e.Type, e.Port, e.QP, e.owner = EventType(kind), int(port), uint32(qp), uint32(owner)
	return syscall.Errno(errno)
}

// notify notifies all contexts, or the one that the event is about. It marks a device that has failed as lost.
func (s *shared) notify(e Event, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.contexts {
		if c.notify != nil && (e.owner == 0 || e.owner == c.number) {
			c.notify(e, err)
		}
	}
	if err != nil || e.Type == EventDeviceFatal {
		s.lost = true
		s.forget()
	}
}
