//go:build !amd64 || race

package relatomic

import (
	"sync/atomic"
	"unsafe"
)

// store uses sync/atomic, which the race detector knows. What a plain store would save on other processors was not
// measured.
func store(p *atomic.Uint64, v uint64) { p.Store(v) }

func store32(p *atomic.Uint32, v uint32) { p.Store(v) }

func await(p *atomic.Uint32, v uint32, looks int) bool {
	for ; p.Load() != v; looks-- {
		if looks <= 0 {
			return false
		}
	}
	return true
}

func fetch(unsafe.Pointer) {}

func fetchTwo(unsafe.Pointer) {}

func fetchOwned(unsafe.Pointer) {}
