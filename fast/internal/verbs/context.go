//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// static int query_device(struct vb_context *c, struct vb_device_attr *a) { return vb.query_device(c, a); }
// static int query_port(struct vb_context *c, int port, struct vb_port_attr *a) { return vb.query_port(c, port, a); }
import "C"

import (
	"sync/atomic"
	"syscall"
)

// Context is what one user has of an open device: what is made with it closes with it. Its methods can be called by
// several goroutines at once.
type Context struct {
	Device string // its name
	number uint32 // among those of this process, from 1 on
	handle *C.struct_vb_context
	tell   func(Event, error)
	lifetime
}

// numbers is the last number that a context was given.
var numbers atomic.Uint32

// Open opens the device of this name. Contexts of one device share what the library and the kernel have of it, which is
// opened with the first one and closed with the last one, and nothing else. What happens to the device each of them is
// told by its tell, unless that is nil, until it is closed, and what happens to a completion queue the one that has it;
// an error is the last thing. tell is called by another goroutine, perhaps before Open returns; it does not wait, and
// closes nothing.
func Open(device string, tell func(Event, error)) (*Context, error) {
	c := &Context{Device: device, number: numbers.Add(1), tell: tell}
	c.tree = newTree()
	d, err := share(c)
	if err != nil {
		return nil, err
	}
	c.handle = d.handle
	c.destroy = func() error { return d.leave(c) }
	return c, nil
}

// failed returns the error of op.
func (c *Context) failed(op string, err error) error {
	return &Error{Device: c.Device, Op: op, Err: err}
}

func (c *Context) result(op string, errno C.int) error { return result(c.Device, op, errno) }

// result returns the error of op, which answers with errno or 0; some drivers answer with -1 instead, or with less.
func result(device, op string, errno C.int) error {
	switch {
	case errno == 0:
		return nil
	case errno < 0:
		errno = -errno
	}
	return &Error{Device: device, Op: op, Err: syscall.Errno(errno)}
}

// Attributes returns the limits of the device.
func (c *Context) Attributes() (a Attributes, err error) {
	err = using(func() error {
		var d C.struct_vb_device_attr
		errno := C.query_device(c.handle, &d)
		a = Attributes{
			Firmware:  C.GoString(&d.fw_ver[0]),
			MaxQP:     int(d.max_qp),
			MaxQPWR:   int(d.max_qp_wr),
			MaxCQ:     int(d.max_cq),
			MaxCQE:    int(d.max_cqe),
			MaxMR:     int(d.max_mr),
			MaxMRSize: uint64(d.max_mr_size),
			Ports:     int(d.phys_port_cnt),
		}
		return c.result("ask for its limits", errno)
	}, &c.lifetime)
	return a, err
}

// Port returns what the port of this number, from 1 on, is like now.
func (c *Context) Port(number int) (p Port, err error) {
	err = using(func() error {
		var a C.struct_vb_port_attr
		errno := C.query_port(c.handle, C.int(number), &a)
		p = Port{
			Number:     number,
			State:      PortState(a.state),
			MTU:        MTU(a.active_mtu),
			MaxMessage: uint32(a.max_msg_sz),
			LID:        uint16(a.lid),
			Link:       LinkLayer(a.link_layer),
			GIDs:       int(a.gid_tbl_len),
		}
		return c.result("ask for its port", errno)
	}, &c.lifetime)
	return p, err
}
