package mesh

import (
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// lobby is where connections for data wait for a communicator that is still being made here.
type lobby struct {
	forgotten func(comm uint64) bool // who comes for such a communicator is sent away
	mu        sync.Mutex
	handlers  map[uint64]func(from int, c wire.Conn)
	waiting   []visitor // the oldest first
	closed    bool
}

// visitor is a connection that waits.
type visitor struct {
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
func (l *lobby) enter(v visitor) func(int, wire.Conn) {
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
func (l *lobby) handle(comm uint64, f func(int, wire.Conn)) (waiting []visitor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.forgotten(comm) {
		return nil
	}
	l.handlers[comm] = f
	l.remove(func(v visitor) bool {
		if v.comm == comm {
			waiting = append(waiting, v)
		}
		return v.comm == comm
	})
	return waiting
}

// remove takes connections out, which the caller has taken or closed.
func (l *lobby) remove(which func(visitor) bool) { l.waiting = slices.DeleteFunc(l.waiting, which) }

// shut closes the connections that wait and are not wanted.
func (l *lobby) shut(unwanted func(visitor) bool) {
	l.remove(func(v visitor) bool {
		if !unwanted(v) {
			return false
		}
		_ = v.conn.Close()
		return true
	})
}

func (l *lobby) expire(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut(func(v visitor) bool { return now.Sub(v.since) > visitTime })
}

func (l *lobby) forget(comm uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.handlers, comm)
	l.shut(func(v visitor) bool { return v.comm == comm })
}

func (l *lobby) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	clear(l.handlers)
	l.shut(func(visitor) bool { return true })
}
