package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// fdConn is a unix connection that carries files besides bytes: those given to attach go with the first bytes written
// next. They arrive before or together with these bytes, in order. Its other methods are those of the connection, so
// TLS runs on it.
type fdConn struct {
	*net.UnixConn
	mu     sync.Mutex
	pid    int      // of the process at the other end; 0: it is in another namespace, or not known yet
	out    []int    // to go with the next Write
	in     []parcel // that have come
	closed bool
	early  bool // nobody has proved yet who is at the other end: no files come
	blind  bool // another process has made the connection: who is at the other end is known when something comes
}

// parcel is the files that came with one message.
type parcel struct {
	files []int
	lost  bool // not all of them could be taken, and none was
	from  *sender
}

// sender is who has written what was read, as the system says.
type sender struct{ pid, user int }

// errLost: this process had too many files open to take those that have come.
var errLost = errors.New("this process has too many files open to take those that were sent to it")

// maxIncoming is of how many messages the files wait for what they came with to be read.
const maxIncoming = 64

// newFDConn returns a connection to the process pid, which has proved nothing yet.
func newFDConn(c *net.UnixConn, pid int) *fdConn {
	return &fdConn{UnixConn: c, pid: pid, early: true}
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

// introducedTo returns the connection to the process that has the other end of file, which it closes.
func introducedTo(file int) (*fdConn, error) {
	f := os.NewFile(uintptr(file), "a connection to another process")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, wire.Exhausted(err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok || c.LocalAddr().Network() != "unix" {
		_ = c.Close()
		return nil, fmt.Errorf("its connection is of kind %v", c.LocalAddr().Network())
	}
	return &fdConn{UnixConn: u, blind: true}, nil
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

// The users as whom this process writes, and makes connections. Tests replace them.
var realUser, thisUser = os.Getuid, os.Geteuid

// Private tells package secure that both sides have checked that the other one is this user's.
func (c *fdConn) Private() {}

// process returns the process at the other end; 0: this one, or one that the system does not know here.
func (c *fdConn) process() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == os.Getpid() {
		return 0
	}
	return c.pid
}

// trust lets files come, and tells whether the process at the other end is not known yet.
func (c *fdConn) trust() (unknown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early = false
	return c.blind
}

// attach has files go with the bytes that are written next. They are the fdConn's from now on.
func (c *fdConn) attach(files []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		closeFiles(files)
		return
	}
	c.out = append(c.out, files...)
}

// take returns the n files of the next message that came with some; they are the caller's. It fails with errLost, and
// the connection is as good as before, or because the sender is broken.
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

// Write writes b, and sends the files that are attached.
func (c *fdConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	files := c.out
	c.out = nil
	c.mu.Unlock()
	if len(files) == 0 || len(b) == 0 {
		return c.UnixConn.Write(b)
	}
	defer closeFiles(files)
	n, err := writeFiles(c.UnixConn, b, files)
	if err != nil || n == len(b) {
		return n, err
	}
	m, err := c.UnixConn.Write(b[n:])
	return n + m, err
}

// Read reads bytes, and keeps the files that come with them.
func (c *fdConn) Read(b []byte) (int, error) {
	n, p, err := readFiles(c.UnixConn, b)
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

// identify takes note of who has written what is read first on a connection that another process has made. The system
// tells the real user of who writes, and else the effective one of who connects.
func (c *fdConn) identify(from *sender) error {
	if from == nil {
		return errors.New("the system does not say who is at the other end")
	}
	if err := secure.CheckUser(from.pid, from.user, realUser()); err != nil {
		return err
	}
	c.pid, c.blind = from.pid, false
	unnamed(c.UnixConn)
	return nil
}

// Close closes the connection, and what files it holds.
func (c *fdConn) Close() error {
	c.mu.Lock()
	c.closed = true
	for _, p := range c.in {
		closeFiles(p.files)
	}
	closeFiles(c.out)
	c.in, c.out = nil, nil
	c.mu.Unlock()
	return c.UnixConn.Close()
}
