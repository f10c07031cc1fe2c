//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// maxPipe bounds what is read from a pipe after its deadline, in bytes: the most that Linux lets a pipe hold.
const maxPipe = 1 << 20

// pipe is the reading end of a pipe. After its deadline it ends where the pipe is empty, whoever may still write, and
// after left bytes in any case: what was written before the deadline is not lost however late it is read.
type pipe struct {
	*os.File
	left int
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	n, err = p.readNow(b[:min(len(b), p.left)])
	p.left -= max(n, 0)
	if n <= 0 || err != nil {
		return 0, io.EOF
	}
	return n, nil
}

// readNow reads without waiting: the pipe is not blocking, because os.Pipe has made it.
func (p *pipe) readNow(b []byte) (n int, err error) {
	raw, err := p.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) {
		for {
			if n, err = syscall.Read(int(fd), b); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	})
	return n, errors.Join(failed, err)
}
