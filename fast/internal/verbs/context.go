//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// static int close_device(struct vb_context *c) { return vb.close_device(c); }
// static int query_device(struct vb_context *c, struct vb_device_attr *a) { return vb.query_device(c, a); }
// static int query_port(struct vb_context *c, int port, struct vb_port_attr *a) { return vb.query_port(c, port, a); }
import "C"

import (
	"sync"
	"syscall"
)

// Context is an open device. Its methods can be called by several goroutines at once.
type Context struct {
	Device string // its name
	handle *C.struct_vb_context
	events *eventFile
	lifetime
}

func newContext(device string, handle *C.struct_vb_context) (*Context, error) {
	c := &Context{Device: device, handle: handle}
	c.tree = new(sync.Mutex)
	events, err := newEventFile(int(handle.async_fd), device)
	if err != nil {
		C.close_device(handle)
		return nil, c.failed("watch its events", err)
	}
	c.events = events
	c.destroy = func() error {
		c.events.Close()
		return c.result("close it", C.close_device(c.handle))
	}
	return c, nil
}

// failed is the error of op.
func (c *Context) failed(op string, err error) error {
	return &Error{Device: c.Device, Op: op, Err: err}
}

// result is the error of op, which answers with errno or 0; some drivers answer with -1 instead, or with less.
func (c *Context) result(op string, errno C.int) error {
	switch {
	case errno == 0:
		return nil
	case errno < 0:
		errno = -errno
	}
	return c.failed(op, syscall.Errno(errno))
}

// open runs f unless the context is closed.
func (c *Context) open(f func() error) error {
	c.tree.Lock()
	defer c.tree.Unlock()
	if c.closed {
		return ErrClosed
	}
	return f()
}

// Attributes is the limits of the device.
func (c *Context) Attributes() (a Attributes, err error) {
	err = c.open(func() error {
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
	})
	return a, err
}

// Port is what the port of this number, from 1 on, is like now.
func (c *Context) Port(number int) (p Port, err error) {
	err = c.open(func() error {
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
	})
	return p, err
}
