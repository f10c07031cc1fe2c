package tcp

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// takeOut takes the socket out of a connection, which is closed: its reading and writing would be Go's network poller's.
func takeOut(c wire.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, errors.Join(err, c.Close())
	}
	fd = -1
	controlled := raw.Control(func(socket uintptr) {
		if fd, err = unix.FcntlInt(socket, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return
		}
		err = errors.Join(unix.SetNonblock(fd, true), unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
		if withinHost(c) {
			unpace(fd)
		}
	})
	return fd, errors.Join(controlled, err, c.Close())
}

// withinHost tells whether both ends of a connection are on one host, as far as addresses tell.
func withinHost(c wire.Conn) bool {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	remote, also := c.RemoteAddr().(*net.TCPAddr)
	return ok && also && local.IP.Equal(remote.IP)
}
