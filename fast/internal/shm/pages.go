//go:build linux

package shm

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapShared maps the first n bytes of a file, whole pages, aligned for huge pages if n is large enough.
func mapShared(fd, n, prot int) ([]byte, error) {
	place, err := reserve(n)
	if err == nil {
		place, err = unix.MmapPtr(fd, 0, place, uintptr(n), prot, unix.MAP_SHARED|unix.MAP_FIXED)
	}
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	b := unsafe.Slice((*byte)(place), n)
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // faster if the system allows it
	return b, nil
}

// reserve reserves n bytes of address space for a mapping to replace. They have no memory and cost nothing.
func reserve(n int) (unsafe.Pointer, error) {
	extra := 0
	if n >= huge {
		extra = huge
	}
	const prot, flags = unix.PROT_NONE, unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	from, err := unix.MmapPtr(-1, 0, nil, uintptr(n+extra), prot, flags)
	if err != nil || extra == 0 {
		return from, err
	}
	skip := -uintptr(from) & (huge - 1)
	if skip > 0 {
		err = unix.MunmapPtr(from, skip)
	}
	place := unsafe.Add(from, skip)
	if rest := huge - skip; err == nil && rest > 0 {
		err = unix.MunmapPtr(unsafe.Add(place, n), rest)
	}
	return place, err
}

// unmapShared unmaps what mapShared mapped.
func unmapShared(b []byte) {
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))) // cannot fail: it is a mapping
}

// collapse tries to make huge pages of b, a part of a writable mapping that consists of whole huge pages and may have
// memory already. From a single page the system can fill up a huge one (Linux 6.1), ten times as fast as page by page.
func collapse(b []byte) {
	for at := 0; at < len(b); at += huge {
		_ = advise(b[at:at+os.Getpagesize()], unix.MADV_POPULATE_WRITE)
	}
	if len(b) > 0 {
		_ = advise(b, unix.MADV_COLLAPSE)
	}
}

// inMemory reports whether all pages of b, part of a mapping, are in memory (mincore(2)).
func inMemory(b []byte) bool {
	page := uintptr(os.Getpagesize())
	from := address(b) &^ (page - 1)
	n := address(b) + uintptr(len(b)) - from
	are := make([]byte, (n+page-1)/page)
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, from, n, uintptr(unsafe.Pointer(&are[0])))
	return failed == 0 && !slices.ContainsFunc(are, func(page byte) bool { return page&1 == 0 })
}

// populate takes memory for bytes of a new file, of which b is a writable mapping: from the start of a huge page on.
func populate(fd int, b []byte, from, to int) error {
	if from == to {
		return nil
	}
	part := b[from:to]
	collapse(part[:len(part)&^(huge-1)])
	_ = advise(part, unix.MADV_POPULATE_WRITE) // first in this mapping, which saves the faults
	err := error(unix.EINTR)
	for err == unix.EINTR { // Go's scheduler sends signals
		err = allocate(fd, 0, int64(from), int64(len(part)))
	}
	return err
}

// advise asks the system for memory. Tests replace it.
var advise = unix.Madvise

// allocate takes memory for a file. Tests replace it.
var allocate = unix.Fallocate

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// overlap reports whether x and y have memory in common.
func overlap(x, y []byte) bool {
	a, b := address(x), address(y)
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}

// fence orders all stores before it before all stores after it. On arm64 an atomic store alone does not do so for plain
// stores that follow.
func fence() {
	var scratch atomic.Uint32
	scratch.Add(1)
}
