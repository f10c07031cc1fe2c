package kernel

import (
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// streamed is the length from which on a copy is not kept in the caches, where the processor has that for nothing: more
// than the third-level cache that a core usually has.
const streamed = 32 << 20

// short is the length up to which Go's own copy is as good.
const short = 256

// Copy copies src to dst, which is as long, and is the same memory or disjoint. The destination stays in the caches,
// unless it is too large for them: Go's own copy bypasses them from 1 MiB on, and who reads the destination then waits
// for it. Processors of Intel bypass at half speed, those of AMD faster than they copy.
func Copy(dst, src []byte) {
	if len(dst) < short || streams && len(dst) >= streamed {
		copy(dst, src)
		return
	}
	best.copy(dst, src)
}

// delivered is the length from which on Deliver is another copy than Go's own.
const delivered = 4 << 10

// Deliver copies src to dst, which is as long and disjoint, for another processor, which has read what was there
// before. REP MOVSB writes whole cache lines without fetching the old ones from the other processor, which ordinary
// stores wait for: that was twice as fast for 8 to 256 KiB on processors of AMD, and four times while they were far
// from each other. But where dst lies a few bytes behind src in their pages, it takes each byte by itself on Zen 3: 64
// KiB at 3 GB/s, and at 43 with the kernel's copy.
func Deliver(dst, src []byte) {
	switch {
	case len(src) < delivered:
		copy(dst, src)
	case moves && !justBehind(dst, src):
		moveBytes(dst, src[:len(dst)])
	default:
		best.copy(dst, src)
	}
}

// justBehind reports whether dst begins 1 to 63 bytes behind src, but for whole pages.
func justBehind(dst, src []byte) bool {
	behind := (uintptr(unsafe.Pointer(unsafe.SliceData(dst))) - uintptr(unsafe.Pointer(unsafe.SliceData(src)))) % 4096
	return behind-1 < 63
}

// Apply copies or reduces data, the part of r's message from byte at on, to its place.
func Apply(r *wire.Recv, at int, data []byte) {
	to := at + len(data)
	into := r.Into[at:to:to]
	switch {
	case r.Kernel == nil:
		Copy(into, data)
	case len(data) == 0:
	case r.ReceivedFirst:
		r.Kernel(into, data, r.With[at:to:to])
	default:
		r.Kernel(into, r.With[at:to:to], data)
	}
}
