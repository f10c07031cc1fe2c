//go:build !race

package relatomic

import (
	"sync/atomic"
	"unsafe"
)

// store is a plain store. The processor keeps stores in order, and the compiler moves nothing across the call of a
// function that is not inlined. A function in assembly would get its arguments in memory.
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
func fetchTwo(p unsafe.Pointer)

//go:noescape
func fetchOwned(p unsafe.Pointer)
