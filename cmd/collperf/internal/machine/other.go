//go:build !linux

package machine

import (
	"errors"
	"runtime"
)

// Memory is memory of the Go heap: for this system, nothing better is known here.
type Memory struct{ Data []byte }

// NewMemory returns memory that is aligned for every element type, as all larger allocations are.
func NewMemory(bytes int) (*Memory, error) { return &Memory{Data: make([]byte, max(bytes, 16))}, nil }

// Free does nothing: the garbage collector frees the memory.
func (m *Memory) Free() error { return nil }

// Usage is what this process uses: bytes of memory, -1 if that is not known, and open files.
type Usage struct{ Bytes, Files float64 }

// CurrentUsage returns that nothing is known.
func CurrentUsage() Usage { return Usage{-1, -1} }

// Pin fails: this system cannot keep a process on a core.
func Pin(int) (undo func() error, err error) {
	return nil, errors.New("this system cannot keep a process on a core: want -pin=false")
}

// OnCore keeps this goroutine on one thread until it is released. This system has no way to choose the core.
func OnCore(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
