package mesh

import (
	"errors"
	"net"
	"slices"
	"sync"
)

// courier is a unix connection that carries files besides bytes: those given to attach go with the first bytes written
// next. They arrive before or together with these bytes, in order. Its other methods are those of the connection, so TLS
// runs on it.
type courier struct {
	*net.UnixConn
	mu     sync.Mutex
	out    []int // to go with the next Write
	in     []int // that have come
	closed bool
}

// maxIncoming is how many files wait for the messages that they belong to, or to a connection whose other end has not
// shown yet who it is.
const maxIncoming = 64

// attach has files go with the bytes that are written next. They are the courier's from now on.
func (c *courier) attach(files []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		closeFiles(files)
		return
	}
	c.out = append(c.out, files...)
}

// take is the next n files that have come; they are the caller's.
func (c *courier) take(n int) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > len(c.in) {
		return nil, errors.New("files were lost on their way: this process has too many open, or the sender is broken")
	}
	files := slices.Clone(c.in[:n])
	c.in = slices.Delete(c.in, 0, n)
	return files, nil
}

// Write writes b, and sends the files that are attached.
func (c *courier) Write(b []byte) (int, error) {
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
func (c *courier) Read(b []byte) (int, error) {
	n, files, err := readFiles(c.UnixConn, b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.in)+len(files) > maxIncoming {
		closeFiles(files)
		if len(files) > 0 && !c.closed {
			return n, errors.New("more files have come than messages need")
		}
		return n, err
	}
	c.in = append(c.in, files...)
	return n, err
}

// Close closes the connection, and what files it holds.
func (c *courier) Close() error {
	c.mu.Lock()
	c.closed = true
	closeFiles(c.in)
	closeFiles(c.out)
	c.in, c.out = nil, nil
	c.mu.Unlock()
	return c.UnixConn.Close()
}
