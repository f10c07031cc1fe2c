package fork

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mark is 1, and 0 in a child, where the system wipes it, as Linux can from 4.14 on.
var mark, supported = wiped()

// wiped returns a word that the system wipes in a child, if it can.
func wiped() (word *atomic.Uint32, can bool) {
	memory, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil {
		err = unix.Madvise(memory, unix.MADV_WIPEONFORK)
	}
	word, can = new(atomic.Uint32), err == nil
	if can {
		word = (*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(memory))) // which the system gives whole pages of
	}
	word.Store(1)
	return word, can
}

// Supported reports whether this system shows who is a child. Otherwise Child is never true.
func Supported() bool { return supported }

// Child reports whether this process was forked off from the one that the program began in. It takes one look at
// memory.
func Child() bool { return mark.Load() == 0 }
