//go:build linux

package shm

import (
	"fmt"
	"os"
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
	spare := 0
	if n >= huge {
		spare = huge
	}
	const prot, flags = unix.PROT_NONE, unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	from, err := unix.MmapPtr(-1, 0, nil, uintptr(n+spare), prot, flags)
	if err != nil || spare == 0 {
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

// populate takes the memory for all of a new file of which b is a mapping that can be written.
func populate(fd int, b []byte) error {
	// A huge page that has one page is filled up by the system when it is asked to (Linux 6.1), ten times as fast as page by
	// page. This may fail; what is missing then is allocated all the same, and first in this mapping, which saves the
	// faults.
	for at := 0; at < len(b); at += huge {
		_ = unix.Madvise(b[at:min(at+os.Getpagesize(), len(b))], unix.MADV_POPULATE_WRITE)
	}
	if unix.Madvise(b, unix.MADV_COLLAPSE) != nil {
		_ = unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	}
	err := error(unix.EINTR)
	for err == unix.EINTR { // Go's scheduler sends signals
		err = allocate(fd, 0, 0, int64(len(b)))
	}
	return err
}
