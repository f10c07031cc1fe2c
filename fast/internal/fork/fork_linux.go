package fork

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported tells whether the system can wipe memory in a child, as Linux can from 4.14 on. Otherwise Child is never true.
var Supported = true

// mark is 1, and 0 in a child, where the system wipes it.
var mark = wiped()

func wiped() *atomic.Uint32 {
	memory, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil {
		err = unix.Madvise(memory, unix.MADV_WIPEONFORK)
	}
	word := new(atomic.Uint32)
	if Supported = err == nil; Supported {
		word = (*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(memory))) // which the system gives whole pages of
	}
	word.Store(1)
	return word
}

// Child tells whether this process was forked off from the one that the program began in. It takes one look at memory.
func Child() bool { return mark.Load() == 0 }
