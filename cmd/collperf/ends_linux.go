package main

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ends are both ends of a connection within this host. They block nobody and are not paced, as package fast has them
// there.
type ends struct {
	fds   [2]int
	conns [2]*net.TCPConn
	files [2]*os.File // copies, which have the fds
}

func newEnds() (*ends, error) {
	a, b, err := loopback()
	if err != nil {
		return nil, err
	}
	e := &ends{conns: [2]*net.TCPConn{a, b}}
	for i, c := range e.conns {
		if e.files[i], err = c.File(); err != nil {
			e.release()
			return nil, err
		}
		e.fds[i] = int(e.files[i].Fd())
		_ = unix.SetsockoptString(e.fds[i], unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
		if err := unix.SetNonblock(e.fds[i], true); err != nil {
			e.release()
			return nil, err
		}
	}
	return e, nil
}

// cut ends what goes over the connection, both ways: who waits at an end for the other one fails.
func (e *ends) cut() {
	for _, c := range e.conns {
		_ = c.CloseWrite()
	}
}

func (e *ends) release() {
	for i, c := range e.conns {
		_ = c.Close()
		_ = e.files[i].Close() // of nil, an error
	}
}
