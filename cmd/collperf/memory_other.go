//go:build !linux

package main

// memory is the Go heap's where the system offers nothing better that is known here.
type memory struct{ data []byte }

// newMemory is aligned for every element type, as all larger allocations are.
func newMemory(bytes int) (*memory, error) { return &memory{data: make([]byte, max(bytes, 16))}, nil }

func (m *memory) free() error { return nil }
