//go:build linux

package shm

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scanner finds out whether memory of this process lies in huge pages. It keeps what it has found for a while, as a program
// sends from the same few buffers again and again.
type scanner struct {
	pagemap *os.File // of this process; nil: not opened yet
	useless bool     // the system does not say
	known   [4]scanned
	oldest  int // in known
	scan    pageScan
	found   pageRegion
}

// scanned is what is known of memory, for so many uses.
type scanned struct {
	from, to uintptr
	huge     bool
	uses     int
}

// scanUses is how often a result is used: other memory may lie there later.
const scanUses = 64

// inHugePages tells whether most of data lies in huge pages. It is false where the system does not say (before Linux 6.7).
func (s *scanner) inHugePages(data []byte) bool {
	from, to := address(data), address(data)+uintptr(len(data))
	for i := range s.known {
		if k := &s.known[i]; k.from == from && k.to == to && k.uses > 0 {
			k.uses--
			return k.huge
		}
	}
	k := &s.known[s.oldest]
	s.oldest = (s.oldest + 1) % len(s.known)
	*k = scanned{from: from, to: to, huge: s.ask(from, to), uses: scanUses}
	return k.huge
}

// ask asks the system.
func (s *scanner) ask(from, to uintptr) bool {
	if s.useless || !s.open() {
		return false
	}
	page := uintptr(os.Getpagesize() - 1)
	from, to = from&^page, (to+page)&^page
	s.scan = pageScan{size: uint64(unsafe.Sizeof(s.scan)), start: uint64(from), end: uint64(to),
		vec: uint64(uintptr(unsafe.Pointer(&s.found))), vecLen: 1, mask: pageIsHuge, returned: pageIsHuge}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, s.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&s.scan)))
	s.useless = errno != 0
	return n == 1 && !s.useless && s.found.end-s.found.start >= uint64(to-from)/4*3
}

// open makes sure that there is a pagemap.
func (s *scanner) open() bool {
	if s.pagemap == nil {
		f, err := os.Open("/proc/self/pagemap")
		if err != nil {
			s.useless = true
			return false
		}
		s.pagemap = f
	}
	return true
}

// close ends the use of s.
func (s *scanner) close() {
	if s.pagemap != nil {
		_ = s.pagemap.Close() // it was only read
	}
}

// The ioctl PAGEMAP_SCAN, as in linux/fs.h.
const (
	pagemapScan = 3<<30 | unsafe.Sizeof(pageScan{})<<16 | 'f'<<8 | 16
	pageIsHuge  = 1 << 6
)

type pageScan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages, inverted, mask, anyOf, returned uint64
}

type pageRegion struct{ start, end, categories uint64 }
