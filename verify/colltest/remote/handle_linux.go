package remote

import (
	"net"

	"golang.org/x/sys/unix"
)

// handle identifies a process that another one has started. Unlike a process number, it is never reused.
type handle int

// open returns the process at the other end of conn.
func open(conn *net.UnixConn) (handle, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var fd int
	control := raw.Control(func(s uintptr) {
		var peer *unix.Ucred
		if peer, err = unix.GetsockoptUcred(int(s), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			fd, err = unix.PidfdOpen(int(peer.Pid), 0)
		}
	})
	if control != nil {
		err = control
	}
	return handle(fd), err
}

// kill kills the process if it has not ended.
func (h handle) kill() {
	_ = unix.PidfdSendSignal(int(h), unix.SIGKILL, nil, 0)
	_ = unix.Close(int(h))
}
