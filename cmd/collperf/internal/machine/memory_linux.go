package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on the common platforms.
const hugePage = 2 << 20

// Memory is memory outside of the Go heap, on huge pages where the system has them, as a C program would get it.
type Memory struct {
	Data []byte
	all  []byte
}

// NewMemory returns so many bytes of it.
func NewMemory(bytes int) (*Memory, error) {
	rounded := (bytes + hugePage - 1) / hugePage * hugePage
	all, err := unix.Mmap(-1, 0, rounded+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of memory: %w", rounded, err)
	}
	_ = unix.Madvise(all, unix.MADV_HUGEPAGE) // a kernel without huge pages refuses
	at := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugePage
	return &Memory{Data: all[at:][:bytes:bytes], all: all}, nil
}

// Free returns the memory to the system.
func (m *Memory) Free() error { return unix.Munmap(m.all) }

// Usage is what this process uses: bytes of memory, -1 if that is not known, and open files.
type Usage struct{ Bytes, Files float64 }

// CurrentUsage returns the usage now. Memory that several processes share counts in equal parts.
func CurrentUsage() Usage {
	open, err := os.ReadDir("/proc/self/fd")
	text, errMemory := os.ReadFile("/proc/self/smaps_rollup")
	_, rest, found := strings.Cut(string(text), "\nPss:")
	if err != nil || errMemory != nil || !found {
		return Usage{-1, -1}
	}
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		return Usage{-1, -1}
	}
	return Usage{float64(kilobytes) * 1024, float64(len(open))}
}
