//go:build unix

package kernel

import "syscall"

// newArena is at least so much memory between pages that nobody can read or write: the byte before the first and the
// one after the last are not the arena's. free gives it back.
func newArena(bytes int) (arena []byte, free func()) {
	page := syscall.Getpagesize()
	bytes = (bytes + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, bytes+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for _, guard := range [][]byte{all[:page], all[page+bytes:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			panic(err)
		}
	}
	return all[page : page+bytes : page+bytes], func() { _ = syscall.Munmap(all) }
}
