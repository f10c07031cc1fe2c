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
	if e.poller.(*poller).armed[1] != 0 {
		t.Errorf("epoll still knows the socket, with %#x", e.poller.(*poller).armed[1])
	}
	if err := send(all[1], 0, []byte{1}); err != nil {
		t.Fatal(err)
	}
	for n := 0; n == 0; n, _ = unix.IoctlGetInt(int(e.links[1].socket.(descriptor)), unix.TIOCINQ) { // until it has come
		time.Sleep(time.Millisecond)
	}
	var events [4]unix.EpollEvent
	if n, err := unix.EpollWait(e.poller.(*poller).fd, events[:], 0); n != 0 || err != nil {
		t.Errorf("the poller tells of %d sockets: %v, %v", n, events[:max(0, n)], err)
	}
}

// TestDisarm: a rank that sleeps for few others, after it has waited for many, or for nothing in vain, leaves no
// socket armed, of whatever rank.
func TestDisarm(t *testing.T) {
	const size = maxDirect + 3
	e := world{address: "127.0.0.1:0", early: true}.group(t, size)[0]
	if err := e.adopt(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		waitsFor int
		atMost   time.Duration
		known    int
	}{{maxDirect + 1, 0, size - 1}, {maxDirect + 1, time.Millisecond, size - 1}, {maxDirect, time.Millisecond, 0},
		{0, time.Millisecond, 0}} {
		e.timedOut, e.Active = true, e.Active[:0] // all sockets are of interest
		for peer := range test.waitsFor {
			e.Active = append(e.Active, peer+1)
		}
		if err := e.poll(test.atMost); err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, events := range e.poller.(*poller).armed {
			if events != 0 {
				known++
			}
		}
		if known != test.known {
			t.Errorf("after %v for %d ranks epoll knows %d sockets, want %d", test.atMost, test.waitsFor, known, test.known)
		}
	}
	e.Active = nil
}
