package secure

import (
	"net"
	"slices"
	"sync"
	"time"
)

// pending are the connections whose handshake is not over.
type pending struct {
	limit   int
	mutex   sync.Mutex
	changed sync.Cond
	all     []*visitor // in the order in which they came
}

// visitor is a connection whose handshake is not over.
type visitor struct {
	conn   net.Conn
	looked bool // whether anything has come was looked at, or is about to be
	proved bool // it is of the job
	leaves bool // it has to make room
}

// spare is how many more handshakes than processes there may be.
const spare = 16

// manyAtOnce is the limit where the number of processes is not known.
const manyAtOnce = 256

func (p *pending) init(size int) {
	p.limit = size + spare
	if size == 0 {
		p.limit = manyAtOnce
	}
	p.changed.L = &p.mutex
}

// enter waits for room, which the oldest visitor has to make that has proved nothing, if there is one. Those that have are
// soon through: a job's own processes do not send each other away.
func (p *pending) enter(conn net.Conn) *visitor {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for len(p.all) >= p.limit {
		p.evict()
		p.changed.Wait()
	}
	v := &visitor{conn: conn}
	p.all = append(p.all, v)
	return v
}

// evict has one visitor leave, if none is about to.
func (p *pending) evict() {
	if slices.ContainsFunc(p.all, func(v *visitor) bool { return v.leaves }) {
		return
	}
	// One that was not looked at may have proved itself, in bytes that have come already.
	i := slices.IndexFunc(p.all, func(v *visitor) bool { return v.looked && !v.proved })
	if i < 0 {
		return
	}
	p.all[i].leaves = true
	_ = p.all[i].conn.SetReadDeadline(time.Unix(1, 0))
}

func (p *pending) look(v *visitor) { p.change(func() { v.looked = true }) }

func (p *pending) proved(v *visitor) { p.change(func() { v.proved = true }) }

func (p *pending) evicted(v *visitor) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return v.leaves
}

func (p *pending) leave(v *visitor) {
	p.change(func() { p.all = slices.DeleteFunc(p.all, func(other *visitor) bool { return other == v }) })
}

func (p *pending) change(f func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	f()
	p.changed.Broadcast()
}
