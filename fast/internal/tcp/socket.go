package tcp

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// bufferBytes is the receive buffer of a link.
const bufferBytes = 64 << 10

// Socket is one end of a connection. It never blocks: if nothing has arrived, or no more is taken, it returns
// unix.EAGAIN.
type Socket interface {
	// Read reads at most len(b) bytes of what has arrived. It returns 0 bytes without an error at the end.
	Read(b []byte) (int, error)
	// Write writes head and then tail, as far as the socket takes them.
	Write(head, tail []byte) (int, error)
	// Queued returns how many bytes of what was written have not arrived at the other host, or 0 where that is unknown.
	Queued() int
	Close()
}

// descriptor is a Socket of the operating system.
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

func (d descriptor) Queued() int { return queued(int(d)) }

func (d descriptor) Close() { _ = unix.Close(int(d)) }

// extractSocket returns the socket of a connection, taken out of Go's network poller. It closes the connection, unless
// it fails.
func extractSocket(c wire.Conn) (s Socket, err error) {
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
			disablePacing(fd)
		}
	})
	if s == nil {
		return nil, errors.Join(controlled, err)
	}
	return s, errors.Join(err, c.Close())
}

// withinHost reports whether both ends of a connection have the same IP address, so are on one host.
func withinHost(c wire.Conn) bool {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	remote, also := c.RemoteAddr().(*net.TCPAddr)
	return ok && also && local.IP.Equal(remote.IP)
}
