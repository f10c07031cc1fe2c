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

// The values of control.sleeping. A rank is only woken by what it needs: other progress, such as a message for a later
// step, does not cost it a context switch.
const (
	asleep      = 1 << iota // the rank sleeps; 0: it does not
	wantsCredit             // it waits for a slot of a ring to become free
	// The remaining bits: the only rank from which it waits for a message, plus 1; or nobody; or 0 for any rank.
	wantsShift = iota
	nobody     = MaxSize + 1
)

// want returns what this rank waits for, as control.sleeping encodes it.
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

// A rank that has done something for another checks whether the other sleeps, and a rank that is about to sleep checks
// whether something was done. At least one of them must see the other's store. Locked instructions on both sides ensure
// that, but they wait until the other processor releases the word, and a rank stores far more often than it sleeps. So
// where the system provides membarrier(2), a rank calls it before it sleeps. The others use plain stores as soon as
// they see that it does.

// announce stores v into word, which l's peer polls. The caller then checks whether the peer sleeps.
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

// wake wakes c's rank, once for each time it sleeps.
func (c *control) wake(sleeping uint32) {
	if c.sleeping.CompareAndSwap(sleeping, 0) {
		c.ring()
	}
}

// ring ends the sleep of c's rank, or the sleep that it is about to begin.
func (c *control) ring() {
	c.doorbell.Add(1)
	futexWake(&c.doorbell)
}

// The operations of futex(2), not the private ones, because the memory is shared.
const (
	futexWaitOp = 0
	futexWakeOp = 1
)

// futexWait sleeps for at most that long if *word is still value, and reports whether anything but the timeout ended
// it. Go's scheduler knows of the system call, so that other goroutines run.
func futexWait(word *atomic.Uint32, value uint32, atMost time.Duration) bool {
	t := unix.NsecToTimespec(atMost.Nanoseconds())
	_, _, err := syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(value),
		uintptr(unsafe.Pointer(&t)), 0, 0)
	return err != unix.ETIMEDOUT
}

// futexWake wakes the thread that sleeps on word.
func futexWake(word *atomic.Uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOp, 1, 0, 0, 0)
}

// nap bounds a sleep, and so how late a rank sees that its context has ended.
const nap = 10 * time.Millisecond
