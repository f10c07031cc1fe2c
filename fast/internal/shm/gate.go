//go:build linux

package shm

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/relatomic"
)

const (
	isShut = 1 << 63
	isFree = 1 << 62
)

// gate keeps the mapping alive while somebody is inside, and closes once: who then leaves last frees it. The rank
// itself steps in and out with each Exchange, and so often that it only leaves a mark. Others, who come to end the
// rank's part, are counted; the last of them has the system make sure that the rank and it see what the other one has
// stored.
type gate struct {
	marks  bool          // the system does that
	marked atomic.Uint64 // 1: the rank is inside
	others atomic.Uint64 // how many others are, isShut once it is shut, and isFree when nobody is inside any more
}

// mark says that the rank is inside, or not. If it then finds the gate open, who shuts it finds the mark.
func (g *gate) mark(inside uint64) {
	if g.marks {
		relatomic.Store(&g.marked, inside)
	} else {
		g.marked.Store(inside)
	}
}

// stepIn has the rank inside, and is false if the gate is shut: it has to step out in any case.
func (g *gate) stepIn() bool {
	g.mark(1)
	return g.others.Load()&isShut == 0
}

// stepOut is true if the gate is shut and nobody is inside any more, for one of those who leave.
func (g *gate) stepOut() bool {
	g.mark(0)
	return g.freed()
}

// enter is true if the caller, who is not the rank, is in: it has to leave.
func (g *gate) enter() bool {
	for {
		s := g.others.Load()
		if s&isShut != 0 {
			return false
		}
		if g.others.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

// shut closes the gate, for one of the others inside, and tells whether it was open.
func (g *gate) shut() bool { return g.others.Or(isShut)&isShut == 0 }

// leave is stepOut for the others. If the rank steps out at the same time, it sees that the last of them has left, or
// that one sees its mark.
func (g *gate) leave() bool {
	if g.others.Add(^uint64(0)) != isShut {
		return false
	}
	if g.marks && !membarrier(privateExpedited) {
		return false // which cannot be: then the memory stays
	}
	return g.marked.Load() == 0 && g.freed()
}

// freed is true for the first to find that the gate is shut and none of the others is inside.
func (g *gate) freed() bool {
	return g.others.Load() == isShut && g.others.CompareAndSwap(isShut, isShut|isFree)
}

// marksCount tells whether membarrier(2) can have all threads of this process see what the others have stored.
var marksCount = sync.OnceValue(func() bool { return membarrier(registerPrivateExpedited) })

// The commands of membarrier(2) that are used.
const (
	globalExpedited          = 1 << 1
	registerGlobalExpedited  = 1 << 2
	privateExpedited         = 1 << 3
	registerPrivateExpedited = 1 << 4
)

func membarrier(command uintptr) bool {
	_, _, failed := unix.Syscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return failed == 0
}

// order has this rank see what others have stored before they saw that it sleeps.
func order() { membarrier(globalExpedited) }

// orderCounts tells whether order reaches this process, if another one calls it, and others, if this one does.
var orderCounts = sync.OnceValue(func() bool { return membarrier(registerGlobalExpedited) })
