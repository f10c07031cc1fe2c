//go:build !race

package release

import (
	"sync/atomic"
	"unsafe"
)

// store is a plain store: the processor lets nobody see it before what was stored before it.
//
//go:noescape
func store(p *atomic.Uint64, v uint64)

//go:noescape
func store32(p *atomic.Uint32, v uint32)

//go:noescape
func await(p *atomic.Uint32, v uint32, looks int) bool

//go:noescape
func fetch(p unsafe.Pointer)
