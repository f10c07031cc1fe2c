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
	until  time.Time // when it is late with what it has to say; zero: nobody has looked yet whether anything has come
	proved bool      // it is of the job
	leaves bool      // it has to make room
}

// spare is how many more handshakes than processes there may be.
const spare = 16

// manyAtOnce is the limit where the number of processes is not known.
const manyAtOnce = 256

// grace is how long a visitor may stay although it has said nothing: a process on a busy machine may be a little late,
// and many that come at once and send each other away would come again, all of them.
const grace = 5 * time.Millisecond

// longGrace is how long a visitor may stay that was challenged: its process has to be woken up to answer.
const longGrace = 25 * time.Millisecond

// ownGrace is how long a visitor may stay that has proved that it is of the job: it may be slow, or stopped.
const ownGrace = 10 * time.Second

func (p *pending) init(size int) {
	p.limit = size + spare
	if size == 0 {
		p.limit = manyAtOnce
	}
	p.changed.L = &p.mutex
}

// enter waits for room, which the oldest visitor has to make that is late: one that has proved nothing, if there is
// one. A job's own processes do not send each other away unless one does not go on.
func (p *pending) enter(conn net.Conn) *visitor {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for len(p.all) >= p.limit {
		again := time.AfterFunc(p.makeRoom(), func() { p.change(func() {}) }) // which cannot be before Wait
		p.changed.Wait()
		again.Stop()
	}
	v := &visitor{conn: conn}
	p.all = append(p.all, v)
	return v
}

// makeRoom has one visitor leave, if none is about to. It returns when there may be more to do.
func (p *pending) makeRoom() time.Duration {
	if slices.ContainsFunc(p.all, func(v *visitor) bool { return v.leaves }) {
		return Budget
	}
	wait := Budget
	for _, proved := range []bool{false, true} {
		for _, v := range p.all {
			if v.proved != proved || v.until.IsZero() { // what it has said may have come already
				continue
			}
			if early := time.Until(v.until); early > 0 {
				wait = min(wait, early)
				continue
			}
			v.leaves = true
			_ = v.conn.SetReadDeadline(time.Unix(1, 0))
			return Budget
		}
	}
	return wait
}

// await gives v so much time to say something.
func (p *pending) await(v *visitor, grace time.Duration) {
	p.change(func() { v.until = time.Now().Add(grace) })
}

// prove gives v the rest of the time that a job's own process has when places are short.
func (p *pending) prove(v *visitor) {
	p.change(func() { v.proved, v.until = true, time.Now().Add(ownGrace) })
}

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
