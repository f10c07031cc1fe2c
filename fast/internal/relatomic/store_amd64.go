//go:build !race

package relatomic

import (
	"sync/atomic"
	"unsafe"
)

// store is a plain store: the processor lets nobody see it before what was stored before it, and no compiler moves
// anything across the call of a function that it does not look into. In assembly it would get its arguments in memory.
//
//go:noinline
func store(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }

//go:noinline
func store32(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

//go:noescape
func await(p *atomic.Uint32, v uint32, looks int) bool

//go:noescape
func fetch(p unsafe.Pointer)

//go:noescape
func fetchOwned(p unsafe.Pointer)
