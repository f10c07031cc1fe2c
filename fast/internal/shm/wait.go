//go:build linux

package shm

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// nap bounds a sleep: how late a rank sees that its context has ended.
const nap = 10 * time.Millisecond

// patience is how often a rank looks whether it can go on: first at once, then with a yield of its processor before
// each look. After that it sleeps.
type patience struct{ spins, yields int }

// patienceFor suits size ranks on cores processors. Where a rank may occupy the processor that another one needs, it
// looks for less than a switch of processes takes; where it certainly does, not at all.
func patienceFor(size, cores int) patience {
	switch {
	case size <= cores:
		return patience{spins: 2000, yields: 20}
	case size <= 2*cores:
		return patience{spins: 50, yields: 100}
	}
	return patience{spins: 0, yields: 100}
}

// pause comes after a number of looks that were in vain. It is false when it is time to sleep. It is of no use to look
// for the doing of a rank that cannot run meanwhile because it has this one's processor.
func (e *Endpoint) pause(looks int) bool {
	if looks == 0 {
		e.beside = e.waitsForNeighbor()
	}
	spins := e.patience.spins
	if e.beside {
		spins = 0
	}
	switch {
	case looks < spins:
	case looks < spins+e.patience.yields:
		e.yield()
	default:
		return false
	}
	return true
}

// yield lets other processes have the processor. Every now and then the rank says which one that is.
//
// Go's scheduler is not told: the thread stays ready to run, as if the system had taken the processor from it. If it
// were told, its monitor would take every yield among many ranks, which lasts long, for a system call that blocks, and
// wake up thousands of times a second, in each process, to look after it.
func (e *Endpoint) yield() {
	_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	if e.yields++; e.yields%16 != 1 {
		return
	}
	var cpu uint32
	_, _, _ = syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	if cpu++; cpu != e.own.cpu.Load() {
		e.own.cpu.Store(cpu)
	}
}

// waitsForNeighbor reports whether this rank waits for one that ran on the same processor when it last said so.
func (e *Endpoint) waitsForNeighbor() bool {
	cpu := e.own.cpu.Load()
	if cpu == 0 {
		return false
	}
	for i := range e.in {
		if m := &e.in[i]; !m.done && m.link.control.cpu.Load() == cpu {
			return true
		}
	}
	for i := range e.out {
		if m := &e.out[i]; !m.done && m.link.control.cpu.Load() == cpu {
			return true
		}
	}
	return false
}

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

// sleep waits until another rank has done something that concerns this one, or until there is a reason to give up, but
// not longer than a nap.
func (e *Endpoint) sleep(ctx context.Context) error {
	bell := e.own.doorbell.Load()
	e.own.sleeping.Store(e.want())
	if e.orders {
		order()
	}
	defer e.own.sleeping.Store(0)
	// From now on, who does something rings the doorbell. What was done before is seen here; a failure is looked for
	// first, because it does not undo what the failed rank did before.
	failure := e.failure(ctx)
	moved, err := e.advance()
	if moved || err != nil {
		return err
	}
	if failure == nil && !futexWait(&e.own.doorbell, bell) {
		return e.inVain()
	}
	return failure
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

// failure returns the reason to wait no longer, if there is one. This rank's own end comes before that of ctx, which
// may be its consequence.
func (e *Endpoint) failure(ctx context.Context) error {
	if err := e.reason(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return wire.Timeout(ctx, e.waiting(nil))
	}
	for l := range e.pending() {
		if l.control.closed.Load() != 0 {
			return &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
		}
	}
	return nil
}

// Waiting returns the ranks, in ascending order, that the Exchange in progress has been waiting for for a nap or
// longer, or that one was waiting for when it failed.
func (e *Endpoint) Waiting() []int { return e.awaited.Ranks() }

// stall has Waiting return the ranks that the Exchange waits for now.
func (e *Endpoint) stall() {
	e.stalled = e.waiting(e.stalled[:0])
	e.awaited.Set(e.stalled)
}

// waiting returns the ranks of all messages that are not complete, in ascending order, in the memory of ranks.
func (e *Endpoint) waiting(ranks []int) []int {
	for l := range e.pending() {
		ranks = append(ranks, l.peer)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// pending returns the links and calls of the messages that this rank waits for: of those on one link that go one way,
// the first.
func (e *Endpoint) pending() iter.Seq2[*link, wire.Mark] {
	return func(yield func(*link, wire.Mark) bool) {
		for i := range e.out {
			if m := &e.out[i]; m.inTurn() && !yield(m.link, m.call) {
				return
			}
		}
		for i := range e.in {
			if m := &e.in[i]; m.inTurn() && !yield(m.link, m.call) {
				return
			}
		}
	}
}

// cores is the number of processors that this process may use.
var cores = runtime.NumCPU()
