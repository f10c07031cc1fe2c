//go:build linux

package shm

import (
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/wire"
)

// gate keeps the mapping alive while somebody is inside, and closes once: who then leaves last frees it.
type gate struct {
	state atomic.Uint64 // how many are inside; and in the upper half closed or aborted, once it is shut
}

// enter is true if the caller is in: it has to leave.
func (g *gate) enter() bool {
	for {
		s := g.state.Load()
		if s>>32 != 0 {
			return false
		}
		if g.state.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

// shut closes the gate, for somebody inside, and tells whether it was open. Why is closed or aborted.
func (g *gate) shut(why uint32) bool {
	for {
		s := g.state.Load()
		if s>>32 != 0 {
			return false
		}
		if g.state.CompareAndSwap(s, s|uint64(why)<<32) {
			return true
		}
	}
}

// leave is true if the gate is shut and nobody is inside any more.
func (g *gate) leave() bool {
	s := g.state.Add(^uint64(0))
	return s>>32 != 0 && uint32(s) == 0
}

// reason is the error of a call on this rank once the gate is shut.
func (g *gate) reason() error {
	switch uint32(g.state.Load() >> 32) {
	case closed:
		return wire.ErrClosed
	case aborted:
		return wire.ErrAborted
	}
	return nil
}
