package mesh

import (
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// pendingConns is where connections for data wait for a communicator that is still being made here.
type pendingConns struct {
	forgotten func(comm uint64) bool // who comes for such a communicator is sent away
	mu        sync.Mutex
	handlers  map[uint64]func(from int, c wire.Conn)
	waiting   []pendingConn // the oldest first
	closed    bool
}

// pendingConn is a connection that waits.
type pendingConn struct {
	comm  uint64
	from  int
	conn  wire.Conn
	since time.Time
}

// How long connections wait, and how many at most.
const (
	visitTime   = time.Minute
	maxVisitors = 1024
)

// enter returns the handler for a connection, or has the connection wait.
func (l *pendingConns) enter(v pendingConn) func(int, wire.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed || l.forgotten(v.comm):
		_ = v.conn.Close()
		return nil
	case l.handlers[v.comm] != nil:
		return l.handlers[v.comm]
	}
	l.waiting = append(l.waiting, v)
	if len(l.waiting) > maxVisitors {
		_ = l.waiting[0].conn.Close()
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	return nil
}

// handle makes f the handler for comm, and returns what waits for it.
func (l *pendingConns) handle(comm uint64, f func(int, wire.Conn)) (waiting []pendingConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.forgotten(comm) {
		return nil
	}
	l.handlers[comm] = f
	l.remove(func(v pendingConn) bool {
		if v.comm == comm {
			waiting = append(waiting, v)
		}
		return v.comm == comm
	})
	return waiting
}

// remove takes connections out, which the caller has taken or closed.
func (l *pendingConns) remove(which func(pendingConn) bool) {
	l.waiting = slices.DeleteFunc(l.waiting, which)
}

// shut closes the connections that wait and are not wanted.
func (l *pendingConns) shut(unwanted func(pendingConn) bool) {
	l.remove(func(v pendingConn) bool {
		if !unwanted(v) {
			return false
		}
		_ = v.conn.Close()
		return true
	})
}

func (l *pendingConns) expire(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut(func(v pendingConn) bool { return now.Sub(v.since) > visitTime })
}

func (l *pendingConns) forget(comm uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.handlers, comm)
	l.shut(func(v pendingConn) bool { return v.comm == comm })
}

func (l *pendingConns) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	clear(l.handlers)
	l.shut(func(pendingConn) bool { return true })
}
