package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of one on the platforms that matter.
const hugePage = 2 << 20

// memory is memory outside of the Go heap, on huge pages where the system has them, as C programs would take it.
type memory struct {
	data []byte
	all  []byte
}

func newMemory(bytes int) (*memory, error) {
	rounded := (bytes + hugePage - 1) / hugePage * hugePage
	all, err := unix.Mmap(-1, 0, rounded+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of memory: %w", rounded, err)
	}
	_ = unix.Madvise(all, unix.MADV_HUGEPAGE) // a kernel without huge pages refuses
	at := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugePage
	return &memory{data: all[at:][:bytes:bytes], all: all}, nil
}

func (m *memory) free() error { return unix.Munmap(m.all) }
