package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// listenLocal listens on an abstract unix socket, which has a name in no directory. Its name is empty if there can be
// none.
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

// Accept returns the next connection from a process of this user. All others are closed.
func (l neighbours) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if pid, err := checkUser(c); err == nil {
			return newFDConn(c, pid), nil
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
	pid, err := checkUser(c.(*net.UnixConn))
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return newFDConn(c.(*net.UnixConn), pid), nil
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

// introducedTo returns the connection to the process that has the other end of file, which it closes.
func introducedTo(file int) (*fdConn, error) {
	f := os.NewFile(uintptr(file), "a connection to another process")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, wire.Exhausted(err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok || c.LocalAddr().Network() != "unix" {
		_ = c.Close()
		return nil, fmt.Errorf("its connection is of kind %v", c.LocalAddr().Network())
	}
	return &fdConn{UnixConn: u, blind: true}, nil
}

// unnamed has the system say no more who writes what comes.
func unnamed(c *net.UnixConn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 0) })
	}
}

// checkUser returns the process at the other end of c, or 0 if it has no number here. It refuses those of other users.
func checkUser(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var u *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { u, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	switch {
	case err != nil || failed != nil:
		return 0, errors.Join(err, failed)
	}
	return int(u.Pid), secure.CheckUser(int(u.Pid), int(u.Uid), thisUser())
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
