package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestControlOptions: the system gives a control connection over TCP up when nothing was acknowledged for twice as long
// as a process may be silent, and ends it by a reset.
func TestControlOptions(t *testing.T) {
	cfg := newBoard().config(0, 2)
	cfg.HeartbeatTimeout = 3 * time.Second
	m, err := newMesh(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer m.finish()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if !m.attach(1, c, c) {
		t.Fatal("it is not attached")
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		linger, bad := unix.GetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER)
		patience, worse := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		if bad != nil || worse != nil || linger.Onoff != 1 || linger.Linger != 0 || patience != 6000 {
			t.Errorf("linger %+v, %v; %d ms, %v", linger, bad, patience, worse)
		}
	}); err != nil {
		t.Error(err)
	}
}

// TestDialsInTime: a route on which nothing answers keeps the next one from being tried for a time, and not for as long
// as the system would.
func TestDialsInTime(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	r := route{address: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(at.(*unix.SockaddrInet4).Port))}
	for range 10 { // until those that nobody accepts are too many, and the system drops what comes
		c, err := dial(context.Background(), r)
		if err == nil {
			defer c.Close()
			continue
		}
		// Which of the two it is depends on who sees first that the time is over. That of the system is neither.
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, errDial) || refused(err) {
			t.Errorf("got %v, which ends the call: %v", err, refused(err))
		}
		return
	}
	t.Error("nothing is dropped")
}

// TestOtherUsers: neither side of a socket talks to a process of another user.
func TestOtherUsers(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@collgen-" + rand.Text()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	name := l.Addr().String()[1:]
	own, err := dialLocal(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	accepted, err := userListener{l}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = accepted.Close()
	thisUser = func() int { return os.Geteuid() + 1 }
	defer func() { thisUser = os.Geteuid }()
	if c, err := dialLocal(t.Context(), name); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("%v, %v", c, err)
	}
	stranger, err := net.Dial("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	done := make(chan struct{})
	go func() { // only now, as it reads thisUser
		defer close(done)
		if c, err := (userListener{l}).Accept(); err == nil {
			t.Errorf("%v was accepted", c.RemoteAddr())
			_ = c.Close()
		}
		_ = l.Close()
	}()
	if n, err := stranger.Read(make([]byte, 1)); err != io.EOF && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("%d bytes, %v", n, err)
	}
	_ = l.Close()
	<-done
}
