package mesh

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// couriers returns both ends of a connection.
func couriers(t *testing.T) (ends [2]*fdConn) {
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
		ends[i] = &fdConn{socket: c.(*net.UnixConn), fd: -1}
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	return ends
}

// TestFilesLost: a process that has too many files open takes a message without those that came with it, and what comes
// later with its own. The sender is not to blame.
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

// TestManyOnTheWay: the system limits how many files of a user are on their way, unless it is root. Who sends more
// waits until some are taken.
func TestManyOnTheWay(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "MESH_TEST_CROWD=1")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "waited\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// crowd sends more files than may be on their way, to itself, and takes them once it has to wait.
func crowd() error {
	limit := unix.Rlimit{Cur: 64, Max: 64}
	err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	if os.Geteuid() == 0 {
		err = errors.Join(err, syscall.Setuid(65534))
	}
	if err != nil {
		return err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var conns [2]*net.UnixConn
	for i, fd := range ends {
		c, err := net.FileConn(os.NewFile(uintptr(fd), ""))
		if err != nil {
			return err
		}
		conns[i] = c.(*net.UnixConn)
	}
	done := make(chan error)
	const messages = 12
	go func() {
		for range messages {
			if _, err := writeFiles(conns[0], []byte{1}, []int{0, 0, 0, 0, 0, 0, 0, 0}); err != nil {
				done <- err
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		return fmt.Errorf("it does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	for range messages {
		_, p, err := readFiles(conns[1], make([]byte, 1), new(atomic.Bool))
		if closeFiles(p.files); err != nil || len(p.files) != 8 {
			return fmt.Errorf("%d files, %v", len(p.files), err)
		}
	}
	fmt.Println("waited")
	return <-done
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

// TestFilesTooEarly: files that come before the other side has proved who it is are closed, and the connection is of no
// use.
func TestFilesTooEarly(t *testing.T) {
	ends := couriers(t)
	ends[1].early = true
	for _, welcome := range []bool{false, true} {
		if welcome {
			ends[1].trust()
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
