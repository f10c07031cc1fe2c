// Package cma reads the memory of other processes of this host: cross-memory attach, process_vm_readv(2). The system
// refuses it between users, in many containers, and where ptrace(2) is restricted.
package cma

import (
	"errors"
	"fmt"
	"io/fs"
)

// untold is the length up to which Go's scheduler does not know of such a system call. If it did, its monitor would
// take a call longer than its own period, some 20 µs, for one that blocks, and wake up on the processor that copies.
// That cost 1 of 17 µs for 512 KiB.
const untold = 1 << 20

// Read reads the memory of a process from an address on. Then, unless the address sealed is 0, it reads a word there
// and returns it. It fails unless all of that was read. Part of into may be overwritten then. Nothing ends a call
// before it has read everything.
func (r *Reader) Read(process int, into []byte, from, sealed uintptr) (word uint64, err error) {
	got, want, err := r.read(process, into, from, sealed)
	if err == nil && got != want {
		err = fmt.Errorf("%d of %d bytes are there", got, want)
	}
	return r.word, err
}

// Refused reports whether an error of Read is for all of a process's memory, and not for some of it.
func Refused(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission)
}
