package mesh

import (
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// abstractSockets: this system has unix sockets whose names are in no directory.
const abstractSockets = true

// writeFiles writes what it can of b, and copies of files with it. The system limits how many files of a user may be on
// their way: it waits for others to be taken.
func writeFiles(c *net.UnixConn, b []byte, files []int) (n int, err error) {
	for range crowdTries {
		n, _, err = c.WriteMsgUnix(b, unix.UnixRights(files...), nil)
		if !errors.Is(err, unix.ETOOMANYREFS) {
			break
		}
		time.Sleep(crowdPause)
	}
	return n, err
}

// How often to try to send files while too many are on their way, and how long to wait between: a second in all, for
// who takes much longer to write is given up.
const (
	crowdTries = 100
	crowdPause = 10 * time.Millisecond
)

// readFiles reads bytes, and the files that came with them, of one message at most.
func readFiles(c *net.UnixConn, b []byte) (n int, p parcel, err error) {
	var rights [512]byte // for more files than a message may have, and who has sent them; what else comes is cut off
	n, m, flags, _, err := c.ReadMsgUnix(b, rights[:])
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

// parseControl returns what came with bytes besides.
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

// copyFiles are copies of files, which are open until closeFiles.
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

// socketPair returns both ends of a connection for two other processes. Each of these learns from the system which
// process the other one is.
func socketPair() (ends [2]int, err error) {
	if ends, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return ends, err
	}
	for _, fd := range ends {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1)) // until unnamed
	}
	if err != nil {
		closeFiles(ends[:])
	}
	return ends, err
}

// pairRoom returns how many ends of such connections this process may have open until they are sent: a quarter of all
// its files.
func pairRoom() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 4
	}
	return int(min(max(limit.Cur/4, 4), 1<<16))
}

// pidNamespace stands for the namespace in which this process knows others by number; 0: it is not known.
func pidNamespace() uint64 {
	var s unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &s) != nil {
		return 0
	}
	return s.Ino
}

// unnamed has the system say no more who writes what comes.
func unnamed(c *net.UnixConn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 0) })
	}
}

// impatient has the system give a connection up on which nothing was acknowledged for so long. It is a help: what
// counts is that nothing is heard.
func impatient(c *net.TCPConn, milliseconds int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, milliseconds)
		})
	}
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
