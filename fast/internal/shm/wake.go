//go:build linux

package shm

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/relatomic"
	"golang.org/x/sys/unix"
)

// What control.sleeping says. A rank is woken by what it needs alone: another's progress with other things, such as a
// message for a later step, does not cost it a switch of processes.
const (
	asleep      = 1 << iota // it sleeps; 0: it does not
	wantsCredit             // it waits for a slot of a ring to become free
	// The rest is the only rank that it waits for a message from, plus 1; nobody; or 0 for any rank.
	wantsShift = iota
	nobody     = MaxSize + 1
)

// want returns what this rank waits for, as control.sleeping says it.
func (e *Endpoint) want() uint32 {
	want, from := uint32(asleep), uint32(nobody)
	for i := range e.out {
		if !e.out[i].done {
			want |= wantsCredit
		}
	}
	for i := range e.in {
		if e.in[i].done {
			continue
		}
		switch peer := uint32(e.in[i].Peer) + 1; from {
		case nobody, peer:
			from = peer
		default:
			return want // from any
		}
	}
	return want | from<<wantsShift
}

// Who has done something for another rank looks whether that sleeps, and who is about to sleep looks whether something
// was done: one of them has to see what the other one has stored. A processor makes sure of that if both store by a
// locked instruction, which waits until the other processor has let go of the word. A rank stores far more often than
// it sleeps. So where the system can have all processors make sure, a rank has it do that before it sleeps, and the
// others, as soon as they see that it does, just store.

// announce stores v into word, which l's peer looks at. The caller then looks whether the peer sleeps.
func (e *Endpoint) announce(l *link, word *atomic.Uint32, v uint32) {
	if e.orders && l.control.orders.Load() != 0 {
		relatomic.Store32(word, v)
	} else {
		word.Store(v)
	}
}

// wakeReceiver wakes the rank of c if it sleeps and waits for a message of this one.
func (e *Endpoint) wakeReceiver(c *control) {
	if v := c.sleeping.Load(); v != 0 {
		if from := v >> wantsShift; from == 0 || from == uint32(e.rank)+1 {
			c.wake(v)
		}
	}
}

// wakeSender wakes the rank of c if it sleeps and waits for a slot.
func (e *Endpoint) wakeSender(c *control) {
	if v := c.sleeping.Load(); v&wantsCredit != 0 {
		c.wake(v)
	}
}

// wake wakes the rank of c, once for each time it sleeps.
func (c *control) wake(sleeping uint32) {
	if c.sleeping.CompareAndSwap(sleeping, 0) {
		c.ring()
	}
}

// ring ends the sleep of the rank of c, or the one that it is about to begin.
func (c *control) ring() {
	c.doorbell.Add(1)
	futexWake(&c.doorbell)
}

// The operations of futex(2). The memory is shared, so they are not the private ones.
const (
	futexWaitOp = 0
	futexWakeOp = 1
)

// futexWait sleeps for a nap at most, if *word is still value, and tells whether something else ended it. The scheduler
// is told, so that other goroutines go on.
func futexWait(word *atomic.Uint32, value uint32) bool {
	t := unix.NsecToTimespec(nap.Nanoseconds())
	_, _, err := syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(value),
		uintptr(unsafe.Pointer(&t)), 0, 0)
	return err != unix.ETIMEDOUT
}

// futexWake wakes whoever sleeps on word.
func futexWake(word *atomic.Uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOp, 1, 0, 0, 0)
}

// nap bounds a sleep: how late a rank sees that its context has ended.
const nap = 10 * time.Millisecond
