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

// mapShared maps the first n bytes of a file, whole pages, so that huge pages fit if there are enough bytes.
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

// reserve finds n bytes of addresses for a mapping, which it is to replace. Without memory, they cost nothing.
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

// unmapShared ends a mapping of mapShared.
func unmapShared(b []byte) {
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))) // cannot fail: it is a mapping
}

// collapse makes huge pages of b, part of a mapping that can be written: whole ones, which may have memory already. The
// system fills up a huge page that has one page when it is asked to (Linux 6.1), ten times as fast as page by page.
// This may fail.
func collapse(b []byte) {
	for at := 0; at < len(b); at += huge {
		_ = advise(b[at:at+os.Getpagesize()], unix.MADV_POPULATE_WRITE)
	}
	if len(b) > 0 {
		_ = advise(b, unix.MADV_COLLAPSE)
	}
}

// inMemory reports whether all pages of b, part of a mapping, are (mincore(2)).
func inMemory(b []byte) bool {
	page := uintptr(os.Getpagesize())
	from := address(b) &^ (page - 1)
	n := address(b) + uintptr(len(b)) - from
	are := make([]byte, (n+page-1)/page)
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, from, n, uintptr(unsafe.Pointer(&are[0])))
	return failed == 0 && !slices.ContainsFunc(are, func(page byte) bool { return page&1 == 0 })
}

// populate takes the memory for the beginning of a new file, of which b is a mapping that can be written.
func populate(fd int, b []byte) error {
	collapse(b[:len(b)&^(huge-1)])
	_ = advise(b, unix.MADV_POPULATE_WRITE) // first in this mapping, which saves the faults
	err := error(unix.EINTR)
	for err == unix.EINTR { // Go's scheduler sends signals
		err = allocate(fd, 0, 0, int64(len(b)))
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

// fence has others see what was stored before it before what is stored after it. For plain stores that come after it,
// an atomic store alone does not do that on arm64.
func fence() {
	var scratch atomic.Uint32
	scratch.Add(1)
}
