//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// eventFile is a descriptor of the library's that a goroutine can wait for without holding a thread. It is a copy: the
// library closes its own one.
type eventFile struct {
	file *os.File
	raw  syscall.RawConn
}

func newEventFile(fd int, name string) (*eventFile, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(dup), name)
	raw, err := file.SyscallConn()
	return &eventFile{file, raw}, err
}

// wait calls take when the file may have become readable, until it answers true.
func (f *eventFile) wait(take func(uintptr) bool) error {
	err := f.raw.Read(take)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return os.ErrClosed // by another name
	}
	return err
}

// SetDeadline has waiting end at a time, with os.ErrDeadlineExceeded; with the zero time, never.
func (f *eventFile) SetDeadline(t time.Time) error { return f.file.SetReadDeadline(t) }

// Close ends waiting, with os.ErrClosed.
func (f *eventFile) Close() { _ = f.file.Close() }
