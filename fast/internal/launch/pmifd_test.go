//go:build unix

package launch

import (
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestOpenPMI is with the descriptor of a socket, which can be had once, and with what is none.
func TestOpenPMI(t *testing.T) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	far := os.NewFile(uintptr(fds[1]), "far")
	c, err := net.FileConn(far)
	if err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	go newMpiexec(1, 1024).serve(c)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	open := func(fd string) (*KVS, error) {
		return OpenPMI(t.Context(), func(string) string { return fd }, 0)
	}
	for _, fd := range []string{"", "x", "-1", "99999", strconv.Itoa(int(null.Fd()))} {
		if _, err := open(fd); err == nil || !strings.Contains(err.Error(), "PMI_FD is ") {
			t.Errorf("%q: %v", fd, err)
		}
	}
	k, err := open(strconv.Itoa(fds[0]))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := k.Secret(t.Context()); err != nil || len(s) != 32 {
		t.Error(len(s), err)
	}
	if _, err := open(strconv.Itoa(fds[0])); err == nil || !strings.Contains(err.Error(),
		"was used by this process before") {
		t.Error(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
