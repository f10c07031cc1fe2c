package fork

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mark is 1 in this process and 0 in a forked child, where the system wipes it. Linux can do so since 4.14.
var mark, supported = wiped()

// wiped returns a word that the system wipes in a child, and whether it can.
func wiped() (word *atomic.Uint32, can bool) {
	memory, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil {
		err = unix.Madvise(memory, unix.MADV_WIPEONFORK)
	}
	word, can = new(atomic.Uint32), err == nil
	if can {
		word = (*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(memory))) // mappings are aligned to pages
	}
	word.Store(1)
	return word, can
}

// Supported reports whether Child works on this system. Otherwise Child returns false.
func Supported() bool { return supported }

// Child reports whether this process was forked from the one in which the program began. It costs one load.
func Child() bool { return mark.Load() == 0 }
