//go:build linux

package shm

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/relatomic"
)

const (
	isClosed = 1 << 63
	isFree   = 1 << 62
)

// refGuard keeps the mapping alive while anyone uses it (rundown protection). It is closed once; after that, the last
// user to release it frees the mapping. The rank's own goroutine acquires it in every Exchange, so often that it only
// sets a mark. Other goroutines, which fail or close the endpoint, are counted. The last of them to leave calls
// membarrier(2), so that it and the rank see each other's stores.
type refGuard struct {
	marks  bool          // membarrier is available
	marked atomic.Uint64 // 1: the rank holds the guard
	others atomic.Uint64 // number of other holders, isClosed once closed, and isFree once freed
}

// mark records whether the rank holds the guard. If the rank then finds the guard open, whoever closes it sees the
// mark.
func (g *refGuard) mark(inside uint64) {
	if g.marks {
		relatomic.Store(&g.marked, inside)
	} else {
		g.marked.Store(inside)
	}
}

// acquireOwn acquires the guard for the rank and reports whether it is open. The rank calls releaseOwn in either case.
func (g *refGuard) acquireOwn() bool {
	g.mark(1)
	return g.others.Load()&isClosed == 0
}

// releaseOwn releases the guard for the rank and reports whether the caller has to free the mapping.
func (g *refGuard) releaseOwn() bool {
	g.mark(0)
	return g.claimFree()
}

// acquire acquires the guard for a goroutine other than the rank's, unless it is closed, and reports whether it did. If
// so, the caller must call release.
func (g *refGuard) acquire() bool {
	for {
		s := g.others.Load()
		if s&isClosed != 0 {
			return false
		}
		if g.others.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

// close closes the guard, which the caller has acquired, and reports whether it was open.
func (g *refGuard) close() bool { return g.others.Or(isClosed)&isClosed == 0 }

// release releases what acquire acquired, and reports whether the caller has to free the mapping. If the rank releases
// the guard at the same time, either the rank sees that the last other holder is gone, or that holder sees no mark.
func (g *refGuard) release() bool {
	if g.others.Add(^uint64(0)) != isClosed {
		return false
	}
	if g.marks && !membarrier(privateExpedited) {
		return false // cannot happen; if it does, the memory stays mapped
	}
	return g.marked.Load() == 0 && g.claimFree()
}

// claimFree reports whether the caller is the first to find the guard closed and without other holders.
func (g *refGuard) claimFree() bool {
	return g.others.Load() == isClosed && g.others.CompareAndSwap(isClosed, isClosed|isFree)
}

// hasMembarrier reports whether membarrier(2) can order the stores of all threads of this process.
var hasMembarrier = sync.OnceValue(func() bool { return membarrier(registerPrivateExpedited) })

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

// order makes visible to this rank what others stored before they saw that it sleeps.
func order() { membarrier(globalExpedited) }

// hasGlobalMembarrier reports whether order works between this process and others, in both directions.
var hasGlobalMembarrier = sync.OnceValue(func() bool { return membarrier(registerGlobalExpedited) })
