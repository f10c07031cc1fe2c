package tcp

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestQuiet: what comes while a rank does not sleep wakes nobody, and what has ended a sleep does not do so again.
func TestQuiet(t *testing.T) {
	all := worlds["plain"].group(t, 2)
	e := all[0]
	done := make(chan error)
	go func() { done <- receive(e, 1, make([]byte, 1)) }()
	for len(e.Waiting()) == 0 { // it has slept for a nap
		time.Sleep(time.Millisecond)
	}
	if err := errors.Join(send(all[1], 0, []byte{1}), <-done); err != nil {
		t.Fatal(err)
	}
	if e.poller.armed[1] != 0 {
		t.Errorf("epoll still knows the socket, with %#x", e.poller.armed[1])
	}
	if err := send(all[1], 0, []byte{1}); err != nil {
		t.Fatal(err)
	}
	for n := 0; n == 0; n, _ = unix.IoctlGetInt(e.links[1].fd, unix.TIOCINQ) { // until it has come
		time.Sleep(time.Millisecond)
	}
	var events [4]unix.EpollEvent
	if n, err := unix.EpollWait(e.poller.fd, events[:], 0); n != 0 || err != nil {
		t.Errorf("the poller tells of %d sockets: %v, %v", n, events[:max(0, n)], err)
	}
}
