//go:build !unix

package kernel

// newArena is at least so much memory.
func newArena(bytes int) (arena []byte, free func()) { return make([]byte, bytes), func() {} }
