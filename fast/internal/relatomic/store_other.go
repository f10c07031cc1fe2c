//go:build !amd64 || race

package relatomic

import (
	"sync/atomic"
	"unsafe"
)

// store is the one of sync/atomic, which the race detector knows. How much a plain one would save on other processors
// was not measured.
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

func fetchOwned(unsafe.Pointer) {}
