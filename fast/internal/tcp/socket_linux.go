package tcp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// short is how many bytes a system call copies in so little time that Go's scheduler need not know of it. That, and not
// to go through the file system's read and write, saves a few hundred nanoseconds of about five thousand.
const short = bufferBytes

// readSocket reads what has come, as read(2) does.
func readSocket(fd int, b []byte) (int, error) {
	if len(b) > short {
		return unix.Read(fd, b)
	}
	return transfer(unix.SYS_RECVFROM, fd, b, unix.MSG_DONTWAIT)
}

// writeSocket writes what the socket takes, as write(2) does.
func writeSocket(fd int, b []byte) (int, error) {
	if len(b) > short {
		return unix.Write(fd, b)
	}
	return transfer(unix.SYS_SENDTO, fd, b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

func transfer(call uintptr, fd int, b []byte, flags uintptr) (int, error) {
	data := unsafe.Pointer(unsafe.SliceData(b))
	n, _, err := syscall.RawSyscall6(call, uintptr(fd), uintptr(data), uintptr(len(b)), flags, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

// unpace has what is written to a socket leave at once, as Reno does, which every kernel has: within a host there is
// nothing to spare, and the pauses that BBR makes, where it is the system's choice, cost up to half of the speed.
func unpace(fd int) { _ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") }

// Queued returns how many bytes of what was written to a socket have not arrived at the other host.
func (d descriptor) Queued() int {
	n, err := unix.IoctlGetInt(int(d), unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}

// yield lets another process have the processor. Go's scheduler is not told: it would take every yield among many
// ranks, which lasts long, for a system call that blocks, and wake up another thread, on this very processor, to
// replace this one.
func yield() { _, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
