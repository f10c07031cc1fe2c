//go:build linux

package shm

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A rank takes memory for its full slots, those of its rings and its multicast, when it first has to send more than a
// small slot holds. So a communicator costs little as long as it carries nothing but short messages, however many there
// are. Memory is reserved before it is touched, because a lack of it would then be a signal. A rank that gets none goes
// on with small slots. It asks again, for a long message, once the answer is old (see believed).

// growFor takes memory for full slots, if a message of n bytes is the first that needs them.
func (e *Endpoint) growFor(n int) {
	if n <= small || e.grown {
		return
	}
	if now := time.Now(); now.Sub(e.refused) > believed {
		if e.grown = e.grow(); !e.grown {
			e.refused = now
		}
	}
}

// grow takes memory for this rank's full slots, if there is enough, and reports whether it did.
func (e *Endpoint) grow() bool {
	from := idleBytes(e.mem.size) + e.rank*ownBytes(e.mem.size)
	to := from + ownBytes(e.mem.size)
	first, last := e.mem.hugePages(from, to)
	bytes := int64(max(to, last) - min(from, first))
	return spare.take(bytes) == nil && e.count(bytes) && e.mem.populate(from, to) == nil
}

// count adds the bytes that this rank is to take to those of this process, and reports whether they are within bounds.
// They stay counted even if the system does not give all of them: what it has given is kept for the next attempt.
func (e *Endpoint) count(bytes int64) bool {
	if e.took == 0 && grownAll.Add(bytes) > mostGrown {
		grownAll.Add(-bytes)
		return false
	}
	e.took = bytes
	return true
}

// hugePages returns the part of m that consists of the huge pages that have any of the bytes between from and to.
func (m *memory) hugePages(from, to int) (first, last int) {
	first = from &^ (huge - 1)
	return first, max(first, min((to+huge-1)&^(huge-1), len(m.bytes)&^(huge-1)))
}

// populate takes the memory of what is between from and to, in huge pages where the system has them.
func (m *memory) populate(from, to int) error {
	first, last := m.hugePages(from, to)
	collapse(m.bytes[first:last])
	return m.ask(from, to, unix.MADV_POPULATE_WRITE)
}

// find reports whether a row of another rank has memory, as that rank claims. Pages that are not in memory are taken by
// this process, whether the other rank never had them or the system has swapped them out. So they must fit its limits.
func (e *Endpoint) find(r *row) bool {
	if r.n > 0 && (inMemory(r.bytes) || spare.take(int64(len(r.bytes))) == nil) {
		from := int(address(r.bytes) - address(e.mem.bytes))
		r.there = e.mem.ask(from, from+len(r.bytes), unix.MADV_POPULATE_READ) == nil
	}
	return r.there
}

// ask asks the system for the memory between from and to. Where the system cannot do that, Create has taken it.
func (m *memory) ask(from, to, how int) error {
	from &^= os.Getpagesize() - 1
	if err := advise(m.bytes[from:to], how); err != unix.EINVAL {
		return err
	}
	return nil
}
