package mesh

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// listenLocal listens on an abstract unix socket, which has a name in no directory. Its name is empty if there can be none.
func (m *Mesh) listenLocal() (name string) {
	name = "collgen-" + rand.Text()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@" + name})
	if err != nil {
		m.cfg.Log.Warn("processes of this host cannot connect by a socket", "error", err)
		return ""
	}
	m.serve(neighbours{l})
	return name
}

// neighbours are the processes of this user that connect to a socket.
type neighbours struct{ *net.UnixListener }

// Accept is the next connection from a process of this user. All others are closed.
func (l neighbours) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if checkUser(c) == nil {
			return &courier{UnixConn: c}, nil
		}
		_ = c.Close()
	}
}

// dialLocal connects to the socket of another process of this user.
func dialLocal(ctx context.Context, name string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", "@"+name)
	if err != nil {
		return nil, err
	}
	if err := checkUser(c.(*net.UnixConn)); err != nil {
		_ = c.Close()
		return nil, err
	}
	return &courier{UnixConn: c.(*net.UnixConn)}, nil
}

// checkUser refuses processes of other users.
func checkUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var u *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { u, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil {
		return err
	}
	if failed == nil && int(u.Uid) != os.Geteuid() {
		failed = fmt.Errorf("process id %d belongs to user %d, and not to this user, %d", u.Pid, u.Uid, os.Geteuid())
	}
	return failed
}

// impatient has the system give a connection up on which nothing was acknowledged for so long. It is a help: what counts
// is that nothing is heard.
func impatient(c *net.TCPConn, milliseconds int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, milliseconds)
		})
	}
}
