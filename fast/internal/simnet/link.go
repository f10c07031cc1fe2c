package simnet

import (
	"io"
	"net"
	"syscall"
	"time"
)

// End is one end of a link, as long as its process runs.
type End struct {
	owner   *Process
	out, in *way
}

// NewLink returns a link between two processes. What it draws depends on the seed and its number.
func NewLink(p, q *Process, w Weather, seed, number uint64) (a, b *End) {
	x, y := newWay(w, seed, 2*number), newWay(w, seed, 2*number+1)
	a, b = &End{owner: p, out: x, in: y}, &End{owner: q, out: y, in: x}
	p.own(a)
	q.own(b)
	return a, b
}

// Reset breaks the link: both ends fail, and what is on its way is lost.
func (e *End) Reset() {
	for _, d := range []*way{e.out, e.in} {
		d.change(func() { d.reset, d.parts, d.held = true, nil, 0 })
	}
}

// Sever loses all that e sends from now on. Neither end notices.
func (e *End) Sever() { e.out.change(func() { e.out.severed = true }) }

// Corrupt changes a bit of what e sends next.
func (e *End) Corrupt() { e.out.change(func() { e.out.corrupt = true }) }

// Clog has no more be sent by e.
func (e *End) Clog() { e.out.change(func() { e.out.Capacity = 0 }) }

// close closes e. The other end reads what was sent before.
func (e *End) close() {
	e.out.change(func() { e.out.closed = true })
	e.in.change(func() { e.in.hung, e.in.held, e.in.parts = true, 0, nil })
}

// Conn returns e as a connection that blocks.
func (e *End) Conn() net.Conn { return &conn{End: e} }

type conn struct {
	net.Conn // nil: what the connections of a simulation cannot do
	*End
}

func (c *conn) Read(b []byte) (int, error) {
	for {
		c.owner.Pass()
		n, err := c.in.read(b)
		if !again(err) {
			return n, err
		}
		c.in.wait(reading)
	}
}

func (c *conn) Write(b []byte) (n int, err error) {
	for n < len(b) {
		c.owner.Pass()
		written, err := c.out.write(b[n:])
		n += written
		switch {
		case again(err):
			c.out.wait(writing)
		case err != nil:
			return n, err
		}
	}
	return n, nil
}

// Close does not wait while its process is stopped, as nothing does that is called with a mutex locked: synctest's
// clock stands still while anybody waits for one.
func (c *conn) Close() error {
	c.close()
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { c.in.limit(reading, t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.out.limit(writing, t); return nil }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.limit(reading, t)
	c.out.limit(writing, t)
	return nil
}

// Socket returns e as a socket that does not block.
func (e *End) Socket() *Socket { return &Socket{e} }

// Socket is one end of a link that never blocks; but its process may be stopped.
type Socket struct{ end *End }

// Read reads what has come; 0 bytes without an error are the end.
func (s *Socket) Read(b []byte) (int, error) {
	s.end.owner.Pass()
	n, err := s.end.in.read(b)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Write writes head and then tail, as far as there is room.
func (s *Socket) Write(head, tail []byte) (int, error) {
	s.end.owner.Pass()
	n, err := s.end.out.write(head)
	if err != nil || n < len(head) {
		return n, err
	}
	m, err := s.end.out.write(tail)
	if again(err) && n > 0 {
		err = nil
	}
	return n + m, err
}

// Queued returns how many bytes have not been read by the other end.
func (s *Socket) Queued() int {
	s.end.out.mu.Lock()
	defer s.end.out.mu.Unlock()
	return s.end.out.held
}

// Close closes the link. The other end reads what was written before.
func (s *Socket) Close() {
	s.end.close()
}

// Ready reports whether Read and Write would do something.
func (s *Socket) Ready() (in, out bool) {
	s.end.owner.Pass()
	return s.end.in.ready(reading), s.end.out.ready(writing)
}

// Notify has f called when that may have changed.
func (s *Socket) Notify(f func()) {
	for _, d := range []*way{s.end.in, s.end.out} {
		d.mu.Lock()
		if d == s.end.in {
			d.reader = f
		} else {
			d.wrote = f
		}
		d.mu.Unlock()
	}
}

// again reports whether one may try again later.
func again(err error) bool { return err == syscall.EAGAIN }
