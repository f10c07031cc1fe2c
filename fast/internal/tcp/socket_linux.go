package tcp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxRawBytes is how many bytes a system call copies in so little time that Go's scheduler need not know about it.
// Bypassing the scheduler, and the file system's read and write, saves a few hundred nanoseconds of about five
// thousand. It is what the receive buffer of a link has room for.
const maxRawBytes = 64 << 10

// readSocket reads what has arrived, like read(2).
func readSocket(fd int, b []byte) (int, error) {
	if len(b) > maxRawBytes {
		return unix.Read(fd, b)
	}
	return rawTransfer(unix.SYS_RECVFROM, fd, b, unix.MSG_DONTWAIT)
}

// writeSocket writes what the socket takes, like write(2).
func writeSocket(fd int, b []byte) (int, error) {
	if len(b) > maxRawBytes {
		return unix.Write(fd, b)
	}
	return rawTransfer(unix.SYS_SENDTO, fd, b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

func rawTransfer(call uintptr, fd int, b []byte, flags uintptr) (int, error) {
	data := unsafe.Pointer(unsafe.SliceData(b))
	n, _, err := syscall.RawSyscall6(call, uintptr(fd), uintptr(data), uintptr(len(b)), flags, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

// disablePacing makes what is written to a socket leave at once, by the congestion control Reno, which every kernel
// has. Within a host there is no network to spare. Where the system's default is BBR, its pauses cost up to half of the
// speed.
func disablePacing(fd int) {
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
}

// queued returns how many bytes of what was written to a socket have not arrived at the other host.
func queued(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}

// yieldThread lets another process have the processor. It bypasses Go's scheduler, which would take a yield among many
// ranks, which lasts long, for a system call that blocks. It would then wake another thread, on this very processor, to
// replace this one.
func yieldThread() { _, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
