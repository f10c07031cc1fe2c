//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// static int query_device(struct vb_context *c, struct vb_device_attr *a) { return vb.query_device(c, a); }
// static int query_port(struct vb_context *c, int port, struct vb_port_attr *a) { return vb.query_port(c, port, a); }
// static ssize_t query_gids(struct vb_context *c, struct vb_gid_entry *e, size_t n) {
//	return vb_query_gid_table ? vb_query_gid_table(c, e, n, 0, sizeof *e) : -1;
// }
import "C"

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
)

// Context is one user's share of an open device. What is made with it closes with it. Several goroutines may call its
// methods at once.
type Context struct {
	Device string // its name
	number uint32 // among those of this process, from 1 on
	handle *C.struct_vb_context
	notify func(Event, error)
	lifetime
}

// numbers is the last number given to a context.
var numbers atomic.Uint32

// Open opens the device of this name. Contexts of one device share nothing but the library's and the kernel's open
// device, which is opened with the first context and closed with the last one.
//
// notify, unless it is nil, is called with each event of the device, and of the context's own completion queues, until
// the context is closed. If the events cannot be read any more, its last call has the error. Another goroutine calls
// it, perhaps before Open returns. It must not block, and must not close anything.
func Open(device string, notify func(Event, error)) (*Context, error) {
	c := &Context{Device: device, number: numbers.Add(1), notify: notify}
	c.tree = newTree()
	d, err := share(c)
	if err != nil {
		return nil, err
	}
	c.handle = d.handle
	c.destroy = func() error { return d.leave(c) }
	return c, nil
}

// failed returns the error of a failed operation.
func (c *Context) failed(op string, err error) error {
	return &Error{Device: c.Device, Op: op, Err: err}
}

func (c *Context) result(op string, errno C.int) error { return result(c.Device, op, errno) }

// result returns the error of op, which has returned an errno or 0. Some drivers return a negative one instead.
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

// Port returns the present state of the port of this number, from 1 on.
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

// maxGIDs is the most GIDs that can be queried: the kernel's interface counts bytes with 16 bits.
const maxGIDs = (1<<16 - 1) / C.sizeof_struct_vb_gid_entry

// GIDs returns the addresses of a port, in the order of their table.
func (c *Context) GIDs(port int) (gids []GID, err error) {
	err = using(func() (err error) {
		entries := make([]C.struct_vb_gid_entry, maxGIDs) // room for the GIDs of all ports
		if n := C.query_gids(c.handle, &entries[0], C.size_t(len(entries))); n >= 0 {
			gids = gidsOfPort(entries[:n], port)
			return nil
		}
		// Not every library and kernel supports that. Reading files is the slow way: there are a thousand for each
		// port.
		if gids, err = readGIDs(os.DirFS(Kernel), c.Device, port); err != nil {
			return c.failed("read the GIDs of its port", err)
		}
		return nil
	}, &c.lifetime)
	return gids, err
}

func gidsOfPort(entries []C.struct_vb_gid_entry, port int) (gids []GID) {
	types := []GIDType{RoCEv1, RoCEv1, RoCEv2}
	for _, e := range entries {
		var raw [16]byte
		for i, b := range e.gid {
			raw[i] = byte(b)
		}
		address := netip.AddrFrom16(raw).Unmap()
		if int(e.port_num) != port || int(e.gid_type) >= len(types) || address == netip.IPv6Unspecified() {
			continue
		}
		g := GID{Index: int(e.gid_index), Type: types[e.gid_type], Address: address}
		if i, err := net.InterfaceByIndex(int(e.ndev_ifindex)); err == nil {
			g.Interface = i.Name
		}
		gids = append(gids, g)
	}
	slices.SortFunc(gids, func(a, b GID) int { return a.Index - b.Index })
	return gids
}
