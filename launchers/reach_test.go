//go:build linux

package launchers

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// socket returns a UDP socket on h: a socket stays in the namespace where it was made.
func (h *host) socket() *net.UDPConn {
	h.t.Helper()
	runtime.LockOSThread() // and never unlocked unless the thread is back: the runtime ends it then
	back, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		h.t.Fatal(err)
	}
	defer back.Close()
	there, err := os.Open(h.network())
	if err != nil {
		h.t.Fatal(err)
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		h.t.Fatal(err)
	}
	c, failed := net.ListenUDP("udp4", nil)
	if err := errors.Join(failed, unix.Setns(int(back.Fd()), unix.CLONE_NEWNET)); err != nil {
		h.t.Fatal(err)
	}
	runtime.UnlockOSThread()
	h.t.Cleanup(func() { c.Close() })
	return c
}

// arrives reports whether a datagram from host i comes to host j: it waits long for one that has to, and not for
// others.
func arrives(t *testing.T, sockets []*net.UDPConn, i, j int, expected bool) bool {
	t.Helper()
	wait := deadline
	if !expected {
		wait = 50 * time.Millisecond
	}
	to := net.UDPAddr{IP: net.ParseIP(address(j)), Port: sockets[j].LocalAddr().(*net.UDPAddr).Port}
	if _, err := sockets[i].WriteTo([]byte{byte(i)}, &to); err != nil {
		t.Fatal(err)
	}
	if err := sockets[j].SetReadDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	var got [1]byte
	_, err := sockets[j].Read(got[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil && int(got[0]) == i
}

// TestNetwork is what the other tests rely on: hosts reach each other, unless the link is cut in that direction.
func TestNetwork(t *testing.T) {
	const hosts = 3
	w := newNetwork(t, hosts)
	var sockets []*net.UDPConn
	for _, h := range w.hosts {
		sockets = append(sockets, h.socket())
	}
	for _, cuts := range [][][2]int{{}, {{0, 1}}, {{1, 0}}, {{0, 1}, {1, 0}}, {{2, 0}, {1, 2}}, {}} {
		w.mend()
		is := make(map[[2]int]bool)
		for _, c := range cuts {
			w.cut(c[0], c[1])
			is[c] = true
		}
		for i := range hosts {
			for j := range hosts {
				if want := !is[[2]int{i, j}]; i != j && arrives(t, sockets, i, j, want) != want {
					t.Errorf("cut %v: a datagram from %d to %d: arrives %v, want %v", cuts, i, j, !want, want)
				}
			}
		}
	}
}

// TestHostIsGone: nothing that ran on a host is left when it is closed.
func TestHostIsGone(t *testing.T) {
	needsRoot(t)
	needs(t, "ip", "nsenter")
	h := newHost(t, "gone")
	cmd := here(t).on(h).command(t.Context(), "sh", "-c", "trap '' TERM HUP; sleep 1000 & wait")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	h.close()
	_ = cmd.Wait()
	if err := out.SetReadDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the sleep lives")
	}
}
