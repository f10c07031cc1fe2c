//go:build linux

package shm

import (
	"context"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// courteous is how often a rank spins that leaves its processor to others: about as long as a short message is on its
// way.
const courteous = 64

// YieldWhile has the rank sleep almost at once, where it waits, while f returns true.
func (e *Endpoint) YieldWhile(f func() bool) { e.yieldsIf = f }

// beginWait decides how the rank waits, and returns that.
func (e *Endpoint) beginWait() patience {
	e.yielding = e.yieldsIf != nil && e.yieldsIf()
	return e.patienceNow()
}

// patienceNow returns how the rank waits.
func (e *Endpoint) patienceNow() patience {
	if e.yielding {
		return patience{spins: min(e.patience.spins, courteous)}
	}
	return e.patience
}

// pause is called after a number of looks that found nothing, yields if it is time to, and returns false when it is
// time to sleep. Spinning is useless while the other rank cannot run because this one occupies its processor.
func (e *Endpoint) pause(looks int) bool {
	if looks == 0 {
		e.beginWait()
		e.beside = e.waitsForNeighbor()
	}
	is := e.patienceNow()
	if e.beside {
		is.spins = 0
	}
	switch {
	case looks < is.spins:
	case looks < is.spins+is.yields:
		e.yield()
	default:
		return false
	}
	return true
}

// yield yields the processor to other processes. Every now and then the rank publishes which processor that is.
//
// Go's scheduler does not know of it: the thread stays ready to run, as if the system had taken the processor from it.
// If it knew, its monitor would take every yield among many ranks, which lasts long, for a system call that blocks, and
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

// waitsForNeighbor reports whether this rank waits for one that last published the same processor.
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

// sleep waits until another rank has done something that concerns this one or until there is a reason to give up, but
// no longer than a nap.
func (e *Endpoint) sleep(ctx, until context.Context) error {
	bell := e.own.doorbell.Load()
	e.own.sleeping.Store(e.want())
	if e.orders {
		order()
	}
	defer e.own.sleeping.Store(0)
	// From now on, a rank that does something rings the doorbell. This sees what was done before. Failures are checked
	// first, because a failure does not undo what the failed rank did before it.
	failure := e.failure(ctx)
	moved, err := e.advance()
	if moved || err != nil || e.leaves(until) {
		return err
	}
	if failure == nil && !futexWait(&e.own.doorbell, bell, wire.AtMost(until, nap)) {
		return e.checkStuck()
	}
	return failure
}
