package kernel

import "unsafe"

// line is the length of a cache line.
const line = 64

// Lengths from which on copies are other than Go's own.
const (
	short     = 256      // vectors, without its look for memory that overlaps
	delivered = 4 << 10  // REP MOVSB, into memory that another processor has read
	moved     = 32 << 10 // REP MOVSB, into any other: what does not fit into the first cache
)

// Copy copies src to dst, which is as long, and is the same memory or disjoint. The destination stays in the caches: Go's own
// copy bypasses them from 1 MiB on, and who reads the destination then waits for it. REP MOVSB does not fetch the lines that it
// overwrites whole: on processors of AMD that is as fast as vectors in the second cache, and takes three quarters of their
// time in memory, where the destination begins a line.
func Copy(dst, src []byte) {
	switch {
	case len(dst) < short:
		copy(dst, src)
	case !moves || len(dst) < moved:
		best.copy(dst, src)
	default:
		head := int(-address(dst) & (line - 1))
		copy(dst[:head], src)
		moveBytes(dst[head:], src[head:len(dst)])
	}
}

// Deliver copies src to dst, which is as long and disjoint, for another processor, which has read what was there before. REP
// MOVSB writes whole cache lines without fetching the old ones from the other processor, which ordinary stores wait for: that
// was twice as fast for 8 to 256 KiB on processors of AMD, and four times while they were far from each other.
func Deliver(dst, src []byte) {
	switch {
	case len(src) < delivered:
		copy(dst, src)
	case moves:
		moveBytes(dst, src[:len(dst)])
	default:
		best.copy(dst, src)
	}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
