package mesh

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// abstractSockets: this system has unix sockets whose names are in no directory.
const abstractSockets = true

// writeFiles writes b, or part of it, together with files. The system limits how many files of a user may be in flight;
// beyond that, writeFiles waits until some were received.
func writeFiles(c socket, b []byte, files []int) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	for range maxSendTries {
		var failed error
		err = raw.Write(func(fd uintptr) bool {
			n, failed = send(int(fd), files, b)
			return failed != unix.EAGAIN
		})
		if err = cmp.Or(err, failed); err != unix.ETOOMANYREFS {
			break
		}
		time.Sleep(sendRetryDelay)
	}
	return n, err
}

// send writes parts to a socket, together with files, without waiting.
func send(fd int, files []int, parts ...[]byte) (n int, err error) {
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	for {
		n, err = unix.SendmsgBuffers(fd, parts, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// How often to try to send files while too many are in flight, and how long to wait in between: a second in all,
// because a process that takes much longer to write is given up.
const (
	maxSendTries   = 100
	sendRetryDelay = 10 * time.Millisecond
)

// readFiles reads bytes of at most one message, and the files that came with them. It sets taking before it takes them
// from the system.
func readFiles(c socket, b []byte, taking *atomic.Bool) (n int, p parcel, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, p, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		taking.Store(true)
		n, p, failed = receive(int(fd), b)
		taking.Store(failed != unix.EAGAIN)
		return failed != unix.EAGAIN
	})
	return n, p, cmp.Or(err, failed)
}

// receive reads bytes of at most one message from a socket, and the files that came with them, without waiting.
func receive(fd int, b []byte) (n int, p parcel, err error) {
	var rights [512]byte // has room for more files than a message may have, and for the sender
	var m, flags int
	for {
		n, m, flags, _, err = unix.Recvmsg(fd, b, rights[:], unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil && n == 0 && len(b) > 0 {
		err = io.EOF
	}
	if m > 0 {
		var bad error
		p, bad = parseControl(rights[:m])
		err = errors.Join(err, bad)
	}
	if flags&unix.MSG_CTRUNC != 0 {
		closeFiles(p.files)
		p = parcel{lost: true, from: p.from}
	}
	return max(n, 0), p, err // it is -1 after some errors
}

// parseControl returns the files and the sender from control messages.
func parseControl(b []byte) (p parcel, err error) {
	messages, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return p, err
	}
	for _, m := range messages {
		if u, err := unix.ParseUnixCredentials(&m); err == nil {
			p.from = &sender{int(u.Pid), int(u.Uid)}
		}
		if len(m.Data)%4 != 0 { // ParseUnixRights would go out of range
			continue
		}
		if got, err := unix.ParseUnixRights(&m); err == nil {
			p.files = append(p.files, got...)
		}
	}
	return p, nil
}

// copyFiles returns duplicates of files.
func copyFiles(files []int) ([]int, error) {
	var copies []int
	for _, fd := range files {
		c, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			closeFiles(copies)
			return nil, err
		}
		copies = append(copies, c)
	}
	return copies, nil
}

func closeFiles(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}

// socketPair returns both ends of a connection for two other processes. The system will tell each of them which process
// is at the other end.
func socketPair() (ends [2]int, err error) {
	if ends, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return ends, err
	}
	for _, fd := range ends {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1)) // until stopCredentials
	}
	if err != nil {
		closeFiles(ends[:])
	}
	return ends, err
}

// maxSocketEnds returns how many ends of socket pairs this process may have open until they are sent: a quarter of its
// limit of open files.
func maxSocketEnds() int {
	return int(min(max(limitOfFiles(os.Getpid())/4, 4), 1<<16))
}

// limitOfFiles returns how many files a process may have open. It returns the maximum for a process that is not known,
// and 0 if the system does not tell.
func limitOfFiles(pid int) uint64 {
	var limit unix.Rlimit
	switch {
	case pid == 0:
		return math.MaxUint64
	case unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit) != nil:
		return 0
	}
	return limit.Cur
}

// pidNamespace returns a number for the PID namespace of this process, or 0 if it is unknown.
func pidNamespace() uint64 {
	var s unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &s) != nil {
		return 0
	}
	return s.Ino
}

// stopCredentials has the system no longer report who writes each message.
func stopCredentials(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 0) }

// checkSocketEnd returns an error unless file is an end of a socket pair. It sees to it that nothing waits for it.
func checkSocketEnd(file int) error {
	domain, err := unix.GetsockoptInt(file, unix.SOL_SOCKET, unix.SO_DOMAIN)
	kind, bad := unix.GetsockoptInt(file, unix.SOL_SOCKET, unix.SO_TYPE)
	if err = cmp.Or(err, bad); err != nil {
		return err
	}
	if domain != unix.AF_UNIX || kind != unix.SOCK_STREAM {
		return fmt.Errorf("its connection is of domain %d and type %d", domain, kind)
	}
	return unix.SetNonblock(file, true)
}

// setSendBuffer sets how many bytes the system takes of a socket that are not received yet.
func setSendBuffer(fd, bytes int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, bytes) }

// setUserTimeout has the system give up a connection on which nothing was acknowledged for that long. It only helps:
// the detector does not depend on it.
func setUserTimeout(c *net.TCPConn, milliseconds int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, milliseconds)
		})
	}
}

// acknowledged returns how many bytes of what was written to c have arrived at the other host.
func acknowledged(c *net.TCPConn) (n uint64) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				n = info.Bytes_acked
			}
		})
	}
	return n
}

// socketPeer returns the process that has made the other end of c, and its user.
func socketPeer(c *net.UnixConn) (pid, user int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var u *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { u, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, failed); err != nil {
		return 0, 0, err
	}
	return int(u.Pid), int(u.Uid), nil
}
