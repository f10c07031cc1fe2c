package tcp

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Socket is one end of a connection, which never blocks: where nothing has come, or no more is taken, its error is
// unix.EAGAIN.
type Socket interface {
	// Read reads what has come, at most len(b) bytes; 0 bytes without an error are the end.
	Read(b []byte) (int, error)
	// Write writes head and then tail, as far as they are taken.
	Write(head, tail []byte) (int, error)
	// Queued is how many bytes of what was written have not arrived at the other host, where that is known.
	Queued() int
	Close()
}

// descriptor is a Socket of the system.
type descriptor int

func (d descriptor) Read(b []byte) (int, error) { return readSocket(int(d), b) }

func (d descriptor) Write(head, tail []byte) (int, error) {
	switch {
	case len(tail) == 0:
		return writeSocket(int(d), head)
	case len(head) == 0:
		return writeSocket(int(d), tail)
	}
	return unix.Writev(int(d), [][]byte{head, tail})
}

func (d descriptor) Close() { _ = unix.Close(int(d)) }

// takeOut takes the socket out of a connection, which is closed unless that fails: its reading and writing would be
// Go's network poller's.
func takeOut(c wire.Conn) (s Socket, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	controlled := raw.Control(func(socket uintptr) {
		var fd int
		if fd, err = unix.FcntlInt(socket, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return
		}
		s = descriptor(fd)
		err = errors.Join(unix.SetNonblock(fd, true), unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
		if withinHost(c) {
			unpace(fd)
		}
	})
	if s == nil {
		return nil, errors.Join(controlled, err)
	}
	return s, errors.Join(err, c.Close())
}

// withinHost reports whether both ends of a connection are on one host, as far as addresses tell.
func withinHost(c wire.Conn) bool {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	remote, also := c.RemoteAddr().(*net.TCPAddr)
	return ok && also && local.IP.Equal(remote.IP)
}
