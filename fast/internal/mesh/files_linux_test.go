package mesh

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// couriers are both ends of a connection.
func couriers(t *testing.T) (ends [2]*courier) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "")
		c, err := net.FileConn(f)
		if f.Close(); err != nil {
			t.Fatal(err)
		}
		ends[i] = &courier{UnixConn: c.(*net.UnixConn)}
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	return ends
}

// TestFilesLost: a process that has too many files open takes a message without those that came with it, and what comes later
// with its own. The sender is not to blame.
func TestFilesLost(t *testing.T) {
	ends := couriers(t)
	for _, message := range []string{"first", "other"} {
		copies, err := copyFiles([]int{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		ends[0].attach(copies)
		if _, err := io.WriteString(ends[0], message); err != nil {
			t.Fatal(err)
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: 1, Max: limit.Max}
	text := make([]byte, 5)
	var err error
	for i, want := range []error{errLost, nil} {
		if i == 0 {
			err = unix.Setrlimit(unix.RLIMIT_NOFILE, &none)
		}
		_, failed := io.ReadFull(ends[1], text)
		if err := errors.Join(err, failed, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)); err != nil {
			t.Fatal(err)
		}
		files, got := ends[1].take(3)
		if got != want || (want == nil && len(files) != 3) {
			t.Errorf("with %q: files %v, %v, want %v", text, files, got, want)
		}
		closeFiles(files)
	}
	if _, err := ends[1].take(1); err == nil || err == errLost {
		t.Errorf("files that nobody has sent: %v", err)
	}
}

// FuzzRights: what comes with bytes on a socket has at most as many files as there is room for.
func FuzzRights(f *testing.F) {
	f.Add(unix.UnixRights(1, 2, 3))
	f.Add(append(unix.UnixRights(7), unix.UnixRights(8)...))
	f.Add(unix.UnixCredentials(&unix.Ucred{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, _ := parseControl(b); len(p.files) > len(b)/4 {
			t.Errorf("%d files in %d bytes", len(p.files), len(b))
		}
	})
}

// TestFilesTooEarly: files that come before the other side has proved who it is are closed, and the connection is of no use.
func TestFilesTooEarly(t *testing.T) {
	ends := couriers(t)
	ends[1].early = true
	for _, welcome := range []bool{false, true} {
		if welcome {
			ends[1].welcome()
		}
		copies, err := copyFiles([]int{0})
		if err != nil {
			t.Fatal(err)
		}
		ends[0].attach(copies)
		if _, err := io.WriteString(ends[0], "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := ends[1].Read(make([]byte, 1)); (err == nil) != welcome || len(ends[1].in) > 0 != welcome {
			t.Errorf("welcome %v: %v, %d come", welcome, err, len(ends[1].in))
		}
	}
}
