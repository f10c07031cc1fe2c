//go:build linux

package shm

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePageCache finds out whether memory of this process lies in huge pages. It caches what it has found for a while,
// as a program sends from the same few buffers again and again.
type hugePageCache struct {
	known  [4]cachedRange
	oldest int // in known
	scan   pageScan
	found  pageRegion
}

// cachedRange is the result for a range of memory, valid for a number of uses.
type cachedRange struct {
	from, to uintptr
	huge     bool
	uses     int
}

// cachedUses is how often a result is used before the system is asked again, as the memory may change.
const cachedUses = 64

// inHugePages reports whether most of data lies in huge pages. It is false where the system does not know (before Linux
// 6.7).
func (s *hugePageCache) inHugePages(data []byte) bool {
	from, to := address(data), address(data)+uintptr(len(data))
	for i := range s.known {
		if k := &s.known[i]; k.from == from && k.to == to && k.uses > 0 {
			k.uses--
			return k.huge
		}
	}
	k := &s.known[s.oldest]
	s.oldest = (s.oldest + 1) % len(s.known)
	*k = cachedRange{from: from, to: to, huge: s.scanRange(from, to), uses: cachedUses}
	return k.huge
}

// scanRange asks the system.
func (s *hugePageCache) scanRange(from, to uintptr) bool {
	fd := pagemap()
	if fd < 0 {
		return false
	}
	page := uintptr(os.Getpagesize() - 1)
	from, to = from&^page, (to+page)&^page
	s.scan = pageScan{size: uint64(unsafe.Sizeof(s.scan)), start: uint64(from), end: uint64(to),
		vec: uint64(uintptr(unsafe.Pointer(&s.found))), vecLen: 1, mask: pageIsHuge, returned: pageIsHuge}
	n, err := s.scan.carryOut(fd)
	return n == 1 && err == nil && s.found.end-s.found.start >= uint64(to-from)/4*3
}

// pagemap returns a descriptor of this process's pagemap, which all endpoints share and which stays open, or -1 where
// the system does not support PAGEMAP_SCAN.
var pagemap = sync.OnceValue(func() int {
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	nothing := pageScan{size: uint64(unsafe.Sizeof(pageScan{})), mask: pageIsHuge, returned: pageIsHuge}
	if _, err = nothing.carryOut(fd); err != nil {
		_ = unix.Close(fd) // it was only read
		return -1
	}
	return fd
})

// The ioctl PAGEMAP_SCAN, as in linux/fs.h.
const (
	pagemapScan = 3<<30 | unsafe.Sizeof(pageScan{})<<16 | 'f'<<8 | 16
	pageIsHuge  = 1 << 6
)

type pageScan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages, inverted, mask, anyOf, returned uint64
}

// carryOut performs the scan s, and returns how many regions it found.
func (s *pageScan) carryOut(fd int) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), pagemapScan, uintptr(unsafe.Pointer(s)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

type pageRegion struct{ start, end, categories uint64 }
