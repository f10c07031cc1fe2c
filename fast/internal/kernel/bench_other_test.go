//go:build !linux

package kernel

func newHuge(bytes int) (memory []byte, free func()) { return newArena(bytes) }

func shareProcessor(int) (end func()) { return func() {} }
