//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// static struct vb_pd *alloc_pd(struct vb_context *c) { return vb.alloc_pd(c); }
// static int dealloc_pd(struct vb_pd *p) { return vb.dealloc_pd(p); }
// static struct vb_mr *reg_mr(struct vb_pd *p, void *at, size_t n, int access) { return vb.reg_mr(p, at, n, access); }
// static int dereg_mr(struct vb_mr *m) { return vb.dereg_mr(m); }
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PD is a protection domain: its queue pairs can use only its memory.
type PD struct {
	context *Context
	handle  *C.struct_vb_pd
	lifetime
}

// AllocPD makes a protection domain.
func (c *Context) AllocPD() (*PD, error) {
	p := &PD{context: c}
	return p, p.begin(func() (err error) {
		if p.handle, err = C.alloc_pd(c.handle); p.handle == nil {
			return c.failed("allocate a protection domain", err)
		}
		return nil
	}, func() error {
		return c.result("free a protection domain", C.dealloc_pd(p.handle))
	}, &c.lifetime)
}

// Register lets the device read mem, and access it as access says, until the MR is closed. Registered memory is locked,
// and counts against RLIMIT_MEMLOCK.
func (p *PD) Register(mem []byte, access Access) (*MR, error) {
	if len(mem) == 0 {
		return nil, p.context.failed("register memory", errors.New("there is none"))
	}
	m := &MR{Memory: mem}
	var handle *C.struct_vb_mr
	var pinner runtime.Pinner
	return m, m.begin(func() (err error) {
		at := unsafe.SliceData(mem)
		pinner.Pin(at)
		if handle, err = C.reg_mr(p.handle, unsafe.Pointer(at), C.size_t(len(mem)), C.int(access)); handle == nil {
			pinner.Unpin()
			return p.registerError(len(mem), err)
		}
		m.LKey, m.RKey = uint32(handle.lkey), uint32(handle.rkey)
		return nil
	}, func() error {
		defer pinner.Unpin()
		return p.context.result("deregister memory", C.dereg_mr(handle))
	}, &p.lifetime)
}

// registerError returns the error of Register, and explains the limit that it ran into.
func (p *PD) registerError(n int, err error) error {
	e := &Error{Device: p.context.Device, Op: fmt.Sprintf("register %d bytes of memory", n), Err: err}
	if errors.Is(err, syscall.ENOMEM) {
		e.Hint = memlockHint()
	}
	return e
}

// memlockHint says what the limit of locked memory is, and how to raise it.
func memlockHint() string {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return ""
	}
	if limit.Cur == unix.RLIM_INFINITY {
		return "the limit of locked memory, RLIMIT_MEMLOCK, is not the reason: it is unlimited"
	}
	return fmt.Sprintf("a process may lock %d KiB, its RLIMIT_MEMLOCK: raise it with ulimit -l, in "+
		"/etc/security/limits.conf, "+
		"or with LimitMEMLOCK= of its systemd unit", limit.Cur>>10)
}
