package kernel

// streamed is the length from which on a copy is not kept in the caches, where the processor has that for nothing: more
// than the third-level cache that a core usually has.
const streamed = 32 << 20

// Copy copies src to dst, which is as long, and is the same memory or disjoint. The destination stays in the caches, unless
// it is too large for them: Go's own copy bypasses them from 1 MiB on, and who reads the destination then waits for it.
// Processors of Intel bypass at half speed, those of AMD faster than they copy.
func Copy(dst, src []byte) {
	if streams && len(dst) >= streamed {
		copy(dst, src)
		return
	}
	best.copy(dst, src)
}
