package mesh

import (
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

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
