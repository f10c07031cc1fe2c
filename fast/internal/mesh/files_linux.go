package mesh

import (
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// writeFiles writes what it can of b, and copies of files with it.
func writeFiles(c *net.UnixConn, b []byte, files []int) (int, error) {
	n, _, err := c.WriteMsgUnix(b, unix.UnixRights(files...), nil)
	return n, err
}

// readFiles reads bytes, and the files that came with them, of one message at most.
func readFiles(c *net.UnixConn, b []byte) (n int, p parcel, err error) {
	var rights [1 << 10]byte // the 253 files that the system sends with one message need 1,032 bytes; more is cut off
	n, m, flags, _, err := c.ReadMsgUnix(b, rights[:])
	if err == nil && n == 0 && len(b) > 0 {
		err = io.EOF
	}
	if m > 0 {
		var bad error
		p.files, bad = parseRights(rights[:m])
		err = errors.Join(err, bad)
	}
	if flags&unix.MSG_CTRUNC != 0 {
		closeFiles(p.files)
		p = parcel{lost: true}
	}
	return max(n, 0), p, err // it is -1 after some errors
}

// parseRights are the files in a control message.
func parseRights(b []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, m := range messages {
		if len(m.Data)%4 != 0 { // ParseUnixRights would go out of range
			continue
		}
		if got, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds, nil
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
