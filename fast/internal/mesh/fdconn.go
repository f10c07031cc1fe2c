package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/collgen/collgen/fast/internal/secure"
)

// fdConn is a unix connection that passes files as well as bytes. Files given to attach are sent with the next bytes
// written, and arrive before or together with them, in order. TLS can run on it.
type fdConn struct {
	socket             // nil while it is dormant
	fd     int         // the descriptor while it is dormant, else -1
	ahead  []byte      // read while it was dormant
	taking atomic.Bool // Read may have taken bytes from the system, and not returned yet
	roomy  bool        // writeNow has asked for more room
	mu     sync.Mutex
	pid    int      // of the process at the other end; 0: in another namespace, or not known yet
	out    []int    // to be sent with the next Write
	in     []parcel // received, not taken yet
	closed bool
	early  bool // the handshake is not over: files are refused
	blind  bool // another process has made the connection: the first message shows who is at the other end
}

// socket is a unix connection.
type socket interface {
	net.Conn
	syscall.Conn
}

// socketFile is a socket that was made by another process. Unlike the connections of package net, it needs no second
// descriptor, even for a moment.
type socketFile struct{ *os.File }

func (socketFile) LocalAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }

func (socketFile) RemoteAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// parcel has the files that came with one message.
type parcel struct {
	files []int
	lost  bool // not all files could be received, so none was kept
	from  *sender
}

// sender is the process that has written a message, as the system reports.
type sender struct{ pid, user int }

// errLost is for files that were lost because this process had too many open.
var errLost = errors.New("this process has too many files open to receive those that were sent to it")

// maxIncoming is for how many messages files are kept until the message is read.
const maxIncoming = 64

// newFDConn returns a connection to the process pid, before the handshake.
func newFDConn(c *net.UnixConn, pid int) *fdConn {
	return &fdConn{socket: c, fd: -1, pid: pid, early: true}
}

// userListener are the processes of this user that connect to a socket.
type userListener struct{ *net.UnixListener }

// Accept returns the next connection from a process of this user. All others are closed.
func (l userListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if pid, err := checkUser(c); err == nil {
			return newFDConn(c, pid), nil
		}
		_ = c.Close()
	}
}

// dialLocal connects to the socket of another process of this user.
func dialLocal(ctx context.Context, name string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", "@"+name)
	if err != nil {
		return nil, err
	}
	pid, err := checkUser(c.(*net.UnixConn))
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return newFDConn(c.(*net.UnixConn), pid), nil
}

// newSocketEnd returns the connection over file, one end of a socket pair, as a dormant one. It closes file if it
// fails.
func newSocketEnd(file int) (*fdConn, error) {
	if err := checkSocketEnd(file); err != nil {
		closeFiles([]int{file})
		return nil, err
	}
	return &fdConn{fd: file, blind: true}, nil
}

// open makes c, which was dormant, an ordinary connection.
func (c *fdConn) open() {
	c.socket = socketFile{os.NewFile(uintptr(c.fd), "a connection to another process")}
	c.fd = -1
}

// writeAtOnce writes b to a dormant connection, and reports whether the system has taken all of it.
func (c *fdConn) writeAtOnce(b []byte) bool {
	n, err := send(c.fd, nil, b)
	return err == nil && n == len(b)
}

// writeNow writes as much of head and body as the system takes at once, and returns how many bytes. After an error,
// which the next Write has too, that is none. When the system has not taken all, it is asked for more room.
func (c *fdConn) writeNow(head, body []byte) (n int) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if n, _ = send(int(fd), nil, head, body); n < len(head)+len(body) && !c.roomy {
			c.roomy = true
			setSendBuffer(int(fd), roomyBytes)
		}
	})
	return max(n, 0)
}

// roomyBytes is how much the system is asked to take of a connection without waiting, at least all the bytes of
// messages that a communicator has under way. The system may limit it.
const roomyBytes = 288 << 10

// readAhead reads what has arrived at a dormant connection, for the next Read. It fails with errNothing if nothing has.
func (c *fdConn) readAhead() error {
	b := make([]byte, 512)
	n, p, err := receive(c.fd, b)
	if err == syscall.EAGAIN {
		return errNothing
	}
	n, err = c.keep(n, p, err)
	c.ahead = b[:n]
	return err
}

// checkUser returns the process at the other end of c, or 0 if it has no number here. It returns an error if another
// user owns the process.
func checkUser(c *net.UnixConn) (pid int, err error) {
	pid, user, err := socketPeer(c)
	if err != nil {
		return 0, err
	}
	return pid, secure.CheckUser(pid, user, thisUser())
}

// The users with whom this process writes and connects, respectively. Tests replace them.
var realUser, thisUser = os.Getuid, os.Geteuid

// Private tells package secure that both sides have checked the other one's user.
func (c *fdConn) Private() {}

// process returns the process at the other end, or 0 if it has no number here.
func (c *fdConn) process() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

// trust allows files to be received. It reports whether the process at the other end is not known yet.
func (c *fdConn) trust() (unknown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early = false
	return c.blind
}

// attach sends files with the next bytes that are written. The fdConn owns them from now on.
func (c *fdConn) attach(files []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		closeFiles(files)
		return
	}
	c.out = append(c.out, files...)
}

// take returns the n files of the next message with files, which the caller has to close. It fails with errLost, after
// which the connection can still be used, or because the sender is broken.
func (c *fdConn) take(n int) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.in) == 0 {
		return nil, fmt.Errorf("a message without its %d files", n)
	}
	p := c.in[0]
	c.in = slices.Delete(c.in, 0, 1)
	switch {
	case p.lost:
		return nil, errLost
	case len(p.files) != n:
		closeFiles(p.files)
		return nil, fmt.Errorf("a message of %d files with %d", n, len(p.files))
	}
	return p.files, nil
}

// Write writes b with the attached files.
func (c *fdConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	files := c.out
	c.out = nil
	c.mu.Unlock()
	if len(files) == 0 || len(b) == 0 {
		return c.socket.Write(b)
	}
	defer closeFiles(files)
	n, err := writeFiles(c.socket, b, files)
	if err != nil || n == len(b) {
		return n, err
	}
	m, err := c.socket.Write(b[n:])
	return n + m, err
}

// Read reads bytes, and keeps the files that come with them.
func (c *fdConn) Read(b []byte) (int, error) {
	if n := copy(b, c.ahead); n > 0 {
		c.ahead = c.ahead[n:]
		return n, nil
	}
	n, p, err := readFiles(c.socket, b, &c.taking)
	return c.keep(n, p, err)
}

// keep keeps the files that have come with n bytes, and returns n. It fails if the bytes or files may not be taken.
func (c *fdConn) keep(n int, p parcel, err error) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var refusal error
	if c.blind && n > 0 {
		refusal = c.identify(p.from)
	}
	switch {
	case refusal != nil || len(p.files) == 0 && !p.lost:
	case c.closed:
		closeFiles(p.files)
		return n, err
	case c.early:
		refusal = errors.New("files have come during the handshake")
	case len(c.in) == maxIncoming || len(p.files) > maxFiles:
		refusal = errors.New("more files have come than messages need")
	default:
		c.in = append(c.in, p)
	}
	if refusal != nil {
		closeFiles(p.files)
		return 0, errors.Join(err, refusal)
	}
	return n, err
}

// identify records who has written the first message on a connection that another process has made. For messages, the
// system reports the real user of the writer; for connections, the effective one.
func (c *fdConn) identify(from *sender) error {
	if from == nil {
		return errors.New("the system does not say who is at the other end")
	}
	if err := secure.CheckUser(from.pid, from.user, realUser()); err != nil {
		return err
	}
	c.pid, c.blind = from.pid, false
	if c.socket == nil {
		stopCredentials(c.fd)
	} else if raw, err := c.socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { stopCredentials(int(fd)) })
	}
	return nil
}

// Close closes the connection and the files that it holds.
func (c *fdConn) Close() error {
	c.mu.Lock()
	c.closed = true
	for _, p := range c.in {
		closeFiles(p.files)
	}
	closeFiles(c.out)
	c.in, c.out = nil, nil
	c.mu.Unlock()
	if c.socket == nil {
		closeFiles([]int{c.fd})
		return nil
	}
	return c.socket.Close()
}

// errNothing: nothing has arrived.
var errNothing = errors.New("nothing has arrived")
