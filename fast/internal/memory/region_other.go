//go:build !linux

package memory

import (
	"context"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/setup"
)

// region is memory that no other process reads.
type region struct{ Bytes []byte }

func (*Pool) newRegion(n int, _ uint64) (*region, error) {
	words := make([]uint64, n/8+1) // aligned for all elements
	return &region{unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)}, nil
}

func (*Pool) exchangeFiles(context.Context, *setup.Group, *allocation) error { return nil }

// release leaves the memory to the garbage collector.
func (*Pool) release(allocation) {}
