package mesh

import (
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// pendingConns keeps data connections for communicators that are still being made here.
type pendingConns struct {
	forgotten func(comm uint64) bool // connections for such a communicator are closed
	mu        sync.Mutex
	handlers  map[uint64]func(from int, c wire.Conn)
	waiting   []pendingConn // the oldest first
	closed    bool
}

// pendingConn is a data connection that waits for its communicator.
type pendingConn struct {
	comm  uint64
	from  int
	conn  wire.Conn
	since time.Time
}

// How long connections may wait, and how many.
const (
	pendingTime = time.Minute
	maxPending  = 1024
)

// add returns the handler for a connection, or keeps the connection until there is one.
func (l *pendingConns) add(v pendingConn) func(int, wire.Conn) {
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
	if len(l.waiting) > maxPending {
		_ = l.waiting[0].conn.Close()
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	return nil
}

// handle makes f the handler for comm, and returns the connections that wait for it.
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

// remove removes the connections for which which returns true, without closing them.
func (l *pendingConns) remove(which func(pendingConn) bool) {
	l.waiting = slices.DeleteFunc(l.waiting, which)
}

// closeIf closes and removes the unwanted connections.
func (l *pendingConns) closeIf(unwanted func(pendingConn) bool) {
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
	l.closeIf(func(v pendingConn) bool { return now.Sub(v.since) > pendingTime })
}

func (l *pendingConns) forget(comm uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.handlers, comm)
	l.closeIf(func(v pendingConn) bool { return v.comm == comm })
}

func (l *pendingConns) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	clear(l.handlers)
	l.closeIf(func(pendingConn) bool { return true })
}
