//go:build linux

package shm

import "sync/atomic"

const isShut = 1 << 63

// gate keeps the mapping alive while somebody is inside, and closes once: who then leaves last frees it.
type gate struct {
	state atomic.Uint64 // how many are inside, and isShut once it is shut
}

// enter is true if the caller is in: it has to leave.
func (g *gate) enter() bool {
	for {
		s := g.state.Load()
		if s&isShut != 0 {
			return false
		}
		if g.state.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

// shut closes the gate, for somebody inside, and tells whether it was open.
func (g *gate) shut() bool { return g.state.Or(isShut)&isShut == 0 }

// leave is true if the gate is shut and nobody is inside any more.
func (g *gate) leave() bool {
	return g.state.Add(^uint64(0)) == isShut
}
