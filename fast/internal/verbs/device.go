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
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"os"
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

// errUnsaid is in place of an errno of 0.
var errUnsaid = errors.New("libibverbs does not say why")

// Devices returns those of this host, in the library's order. Where there is none, the error is ErrUnavailable.
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

// each calls use with each device, until it answers false. The device is valid that long. Where the kernel has none,
// the library is not loaded.
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
		return fmt.Errorf("%w: the devices cannot be listed: %w", ErrUnavailable, cmp.Or(errno, errUnsaid))
	}
	defer C.free_devices(list)
	for _, d := range unsafe.Slice(list, n) {
		if !use(d) {
			break
		}
	}
	return nil
}

// openHandle has the library open the device of this name.
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
		err = &Error{Device: name, Op: "open it", Err: cmp.Or(errno, errUnsaid)}
	}
	return handle, err
}
