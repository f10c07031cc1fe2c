package secure

import (
	"net"
	"slices"
	"sync"
	"time"
)

// pendingConns are the connections of a server whose handshakes are not complete.
type pendingConns struct {
	limit   int
	mutex   sync.Mutex
	changed sync.Cond
	all     []*pendingConn // in the order of arrival
}

// pendingConn is a connection whose handshake is not complete.
type pendingConn struct {
	conn    net.Conn
	lateAt  time.Time // when its next message is late; zero: nobody has looked yet whether it has arrived
	proved  bool      // it belongs to the job
	evicted bool
}

// extraHandshakes is how many handshakes a server allows at once, beyond one for each process.
const extraHandshakes = 16

// anySizeHandshakes is how many handshakes a server allows at once if it does not know the number of processes.
const anySizeHandshakes = 256

// How long a connection is safe from eviction.
const (
	// firstGrace is for a connection's first message. A process on a busy machine may be a little late, and connections
	// that arrive together and evict each other would all come again.
	firstGrace = 5 * time.Millisecond
	// challengeGrace is for the answer to the challenge: the client's process has to be woken up first.
	challengeGrace = 25 * time.Millisecond
	// provedGrace is for a client that has proved that it belongs to the job, and may be slow or stopped.
	provedGrace = 10 * time.Second
)

func (p *pendingConns) init(size int) {
	p.limit = size + extraHandshakes
	if size == 0 {
		p.limit = anySizeHandshakes
	}
	p.changed.L = &p.mutex
}

// add waits until there is room for conn. To make room, the oldest connection that is late is evicted, unproved ones
// first. So the job's own processes do not evict each other unless one of them hangs.
func (p *pendingConns) add(conn net.Conn) *pendingConn {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for len(p.all) >= p.limit {
		again := time.AfterFunc(p.evict(), func() { p.update(func() {}) }) // cannot run before Wait
		p.changed.Wait()
		again.Stop()
	}
	c := &pendingConn{conn: conn}
	p.all = append(p.all, c)
	return c
}

// evict evicts one connection, unless an eviction is under way. It returns how long to wait before calling it again.
func (p *pendingConns) evict() time.Duration {
	if slices.ContainsFunc(p.all, func(c *pendingConn) bool { return c.evicted }) {
		return Budget
	}
	wait := Budget
	for _, proved := range []bool{false, true} {
		for _, c := range p.all {
			if c.proved != proved || c.lateAt.IsZero() {
				continue
			}
			if early := time.Until(c.lateAt); early > 0 {
				wait = min(wait, early)
				continue
			}
			c.evicted = true
			_ = c.conn.SetReadDeadline(time.Unix(1, 0))
			return Budget
		}
	}
	return wait
}

// expect gives c so much time for its next message.
func (p *pendingConns) expect(c *pendingConn, grace time.Duration) {
	p.update(func() { c.lateAt = time.Now().Add(grace) })
}

// setProved notes that c belongs to the job, and gives it the time of the job's own processes.
func (p *pendingConns) setProved(c *pendingConn) {
	p.update(func() { c.proved, c.lateAt = true, time.Now().Add(provedGrace) })
}

// isEvicted reports whether c was evicted.
func (p *pendingConns) isEvicted(c *pendingConn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return c.evicted
}

func (p *pendingConns) remove(c *pendingConn) {
	p.update(func() { p.all = slices.DeleteFunc(p.all, func(other *pendingConn) bool { return other == c }) })
}

func (p *pendingConns) update(f func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	f()
	p.changed.Broadcast()
}
