package doctor

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestReadMemory of this very process, where that is allowed: at the right address, at another, at none.
func TestReadMemory(t *testing.T) {
	if err := readMemory(os.Getpid(), addressOfReadable()); err != 0 {
		t.Skip("not even this process's own:", err)
	}
	other := [len(readable)]byte{1}
	for address, want := range map[uintptr]syscall.Errno{
		uintptr(unsafe.Pointer(&other)): unix.EIO,
		8:                               unix.EFAULT,
	} {
		if err := readMemory(os.Getpid(), address); err != want {
			t.Errorf("at %#x: %v, want %v", address, err, want)
		}
	}
	runtime.KeepAlive(&other)
}
