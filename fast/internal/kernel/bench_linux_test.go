package kernel

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newHuge returns memory from a multiple of 2 MiB on, in huge pages if the system has some.
func newHuge(bytes int) (memory []byte, free func()) {
	const huge = 2 << 20
	arena, free := newArena(bytes + huge)
	from := -uintptr(unsafe.Pointer(unsafe.SliceData(arena))) & (huge - 1)
	memory = arena[from : from+uintptr(bytes)]
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE) // measurements go on without
	return memory, free
}

// shareProcessor keeps this goroutine and another process on one processor, as far as the system lets it, until the
// function that it returns is called: two processors are not always equally fast.
func shareProcessor(pid int) (end func()) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return runtime.UnlockOSThread
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	_, _ = unix.SchedSetaffinity(0, &one), unix.SchedSetaffinity(pid, &one)
	return func() {
		_ = unix.SchedSetaffinity(0, &all)
		runtime.UnlockOSThread()
	}
}
