//go:build linux

package rendezvous

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// directory is where the socket of a job lies while its ranks meet. It is used through a descriptor, so what was checked
// once cannot be exchanged for something else.
type directory struct {
	path   string
	fd     int
	ours   bool   // to be removed when it is empty
	socket string // the socket's name in it
}

// sharedDir is the directory for all jobs of this user that are given none: it comes and goes with them, unless it is
// the one that the system gives each user.
func sharedDir() (path string, ours bool) {
	if x := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(x) {
		if fd, err := openPrivate(x); err == nil {
			_ = unix.Close(fd)
			return x, false
		}
	}
	return filepath.Join(os.TempDir(), "collgen-"+strconv.Itoa(os.Geteuid())), true
}

// openDirectory opens the job's directory, which is made if there is none and create is set. The directory that COLL_DIR
// names is the launcher's: when it is no more, nobody is left to remove another.
func openDirectory(job *Job, create bool) (*directory, error) {
	path, ours := job.Dir, false
	if path == "" {
		path, ours = sharedDir()
	}
	if create && path != os.Getenv("COLL_DIR") {
		switch err := os.Mkdir(path, 0o700); {
		case err == nil:
			ours = true
		case !errors.Is(err, os.ErrExist):
			return nil, err
		}
	}
	fd, err := openPrivate(path)
	if err != nil {
		return nil, err
	}
	hash := job.hash()
	return &directory{path, fd, ours, fmt.Sprintf("collgen-%x", hash[:8])}, nil
}

// openPrivate opens a directory that nobody but this user can enter.
func openPrivate(path string) (fd int, err error) {
	fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open directory", Path: path, Err: err}
	}
	var s unix.Stat_t
	err = unix.Fstat(fd, &s)
	switch {
	case err != nil:
	case int(s.Uid) != os.Geteuid():
		err = fmt.Errorf("%s belongs to user %d, and not to this user, %d", path, s.Uid, os.Geteuid())
	case s.Mode&0o077 != 0:
		err = fmt.Errorf("%s is open to other users: its mode is %#o, want 0700", path, s.Mode&0o777)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// address is the socket's, whatever the path's length and whoever renames a directory on it.
func (d *directory) address() *net.UnixAddr {
	return &net.UnixAddr{Net: "unixpacket", Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.fd, d.socket)}
}

func (d *directory) dial() (*net.UnixConn, error) {
	return net.DialUnix("unixpacket", nil, d.address())
}

// listen makes the socket. One that was left behind by a job that is no more is replaced.
func (d *directory) listen(ctx context.Context) (*net.UnixListener, error) {
	if err := d.lock(ctx); err != nil {
		return nil, err
	}
	defer d.unlock()
	if err := d.removeStale(); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unixpacket", d.address())
	if err != nil {
		return nil, fmt.Errorf("listening in %s: %w", d.path, err)
	}
	l.SetUnlinkOnClose(false)
	return l, nil
}

// removeStale removes a socket that nobody listens on. It is called with the lock, so there is nobody who is about to.
func (d *directory) removeStale() error {
	c, err := d.dial()
	if err == nil {
		pid := peerOf(c).pid
		_ = c.Close()
		return fmt.Errorf("process %d is rank 0 of the same job, in %s", pid, d.path)
	}
	if errors.Is(err, unix.ECONNREFUSED) {
		return d.unlink()
	}
	return nil // there is none
}

func (d *directory) unlink() error {
	if err := unix.Unlinkat(d.fd, d.socket, 0); err != nil && err != unix.ENOENT {
		return fmt.Errorf("removing %s/%s: %w", d.path, d.socket, err)
	}
	return nil
}

// remove removes the socket, and the directory if it is ours and empty.
func (d *directory) remove() error {
	err := d.unlink()
	if d.ours {
		_ = unix.Rmdir(d.path) // not empty: another job's
	}
	return err
}

// sweep removes what a rank 0 of the job has left behind that is no more.
func sweep(job *Job) {
	d, err := openDirectory(job, false)
	if err != nil {
		return
	}
	defer d.close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	for d.lock(ctx) == nil {
		err := d.removeStale()
		if err == nil && d.ours {
			_ = unix.Rmdir(d.path)
		}
		d.unlock()
		if err == nil || pause(ctx, 2*time.Millisecond) != nil { // a process that ends does not close everything at once
			return
		}
	}
}

// lock is held for a moment by whoever changes the directory. It ends with its process.
func (d *directory) lock(ctx context.Context) error {
	for {
		err := unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || (err != unix.EWOULDBLOCK && err != unix.EINTR) {
			return err
		}
		if pause(ctx, time.Millisecond) != nil {
			return fmt.Errorf("another process has locked %s", d.path)
		}
	}
}

func (d *directory) unlock() { _ = unix.Flock(d.fd, unix.LOCK_UN) }

func (d *directory) close() { _ = unix.Close(d.fd) }

func (j *Job) hash() [sha256.Size]byte { return sha256.Sum256([]byte(j.Name)) }

// pause waits, or ends with ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
