package cma

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// TestRead: what is read is what lies there, with the word, and neither is read that was not asked for.
func TestRead(t *testing.T) {
	data, word := bytes.Repeat([]byte{1, 2, 3}, untold), uint64(7)
	at, sealed := uintptr(unsafe.Pointer(&data[0])), uintptr(unsafe.Pointer(&word))
	var r Reader
	if _, err := r.Read(os.Getpid(), make([]byte, 1), at, 0); Refused(err) {
		t.Skip("the system does not let a process read its own memory: ", err)
	}
	for _, n := range []int{0, 1, untold, untold + 1, len(data)} {
		for _, where := range []uintptr{0, sealed} {
			if n == 0 && where == 0 {
				continue
			}
			into, want := make([]byte, n+1), word
			if where == 0 {
				want = 0
			}
			if got, err := r.Read(os.Getpid(), into[:n], at, where); err != nil || got != want ||
				!bytes.Equal(into[:n], data[:n]) || into[n] != 0 {
				t.Errorf("%d bytes, and the word at %#x: %d, %v", n, where, got, err)
			}
		}
	}
	page := uintptr(os.Getpagesize())
	if _, err := r.Read(os.Getpid(), make([]byte, 8), at, page); err == nil {
		t.Error("a word is read where there is no memory")
	}
	if _, err := r.Read(os.Getpid(), make([]byte, 8), page, sealed); err == nil {
		t.Error("bytes are read where there is no memory")
	}
}

// TestRefused: only some errors are for all of a process's memory.
func TestRefused(t *testing.T) {
	for err, want := range map[error]bool{syscall.EPERM: true, syscall.ENOSYS: true, errors.ErrUnsupported: true,
		syscall.EFAULT: false, syscall.ESRCH: false} {
		if got := Refused(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
