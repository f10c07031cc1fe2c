package cma

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads for one goroutine at a time, without allocating memory. The zero Reader is ready.
type Reader struct {
	mine [2]unix.Iovec
	far  [2]unix.RemoteIovec
	word uint64
}

// read returns how many bytes were read, and how many there should have been.
func (r *Reader) read(process int, into []byte, from, sealed uintptr) (got, want int, err error) {
	n := uintptr(0)
	add := func(to *byte, length int, from uintptr) {
		r.mine[n].Base, r.far[n].Base, r.far[n].Len = to, from, length
		r.mine[n].SetLen(length)
		n++
		want += length
	}
	if len(into) > 0 {
		add(&into[0], len(into), from)
	}
	if r.word = 0; sealed != 0 {
		add((*byte)(unsafe.Pointer(&r.word)), int(unsafe.Sizeof(r.word)), sealed)
	}
	var count uintptr
	var errno syscall.Errno
	if len(into) <= untold {
		count, _, errno = syscall.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(process),
			uintptr(unsafe.Pointer(&r.mine)), n, uintptr(unsafe.Pointer(&r.far)), n, 0)
	} else {
		count, _, errno = syscall.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(process),
			uintptr(unsafe.Pointer(&r.mine)), n, uintptr(unsafe.Pointer(&r.far)), n, 0)
	}
	r.mine = [2]unix.Iovec{} // so that the memory can be collected
	if errno != 0 {
		return 0, want, errno
	}
	return int(count), want, nil
}
