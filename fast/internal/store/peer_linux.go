package store

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/secure"
)

// peer is the process at the other end of a connection, as the system says.
type peer struct{ pid, uid int }

func peerOf(c *net.UnixConn) peer {
	p := peer{-1, -1}
	raw, err := c.SyscallConn()
	if err != nil {
		return p
	}
	_ = raw.Control(func(fd uintptr) {
		if u, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			p = peer{int(u.Pid), int(u.Uid)}
		}
	})
	return p
}

// check refuses other users.
func (p peer) check() error {
	return secure.CheckUser(p.pid, p.uid, os.Geteuid())
}
